from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "backend.webhooks"
    label = "webhooks"

    def ready(self) -> None:
        from backend.billing.services.closing import tell_of_final
        from backend.webhooks.final_invoices import report_final

        tell_of_final(report_final)
