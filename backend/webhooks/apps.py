from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "backend.webhooks"
    label = "webhooks"

    def ready(self) -> None:
        from backend.billing.services.invoice_reports import report_by
        from backend.webhooks.invoice_events import report_invoice

        report_by(report_invoice)
