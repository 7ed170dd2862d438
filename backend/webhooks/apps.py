from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "backend.webhooks"
    label = "webhooks"

    def ready(self) -> None:
        from backend.billing.services.closing import report_final_documents
        from backend.billing.services.plans import report_changes_of_currency
        from backend.webhooks.final_invoices import report_final
        from backend.webhooks.thresholds import report_suspended

        report_final_documents(report_final)
        report_changes_of_currency(report_suspended)
