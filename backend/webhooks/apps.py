from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "backend.webhooks"
    label = "webhooks"

    def ready(self) -> None:
        from backend.billing.services.closing import report_final_documents
        from backend.webhooks.final_invoices import report_final

        report_final_documents(report_final)
