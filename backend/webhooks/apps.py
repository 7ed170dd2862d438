from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "backend.webhooks"
    label = "webhooks"

    def ready(self) -> None:
        from backend.billing.services import accounts
        from backend.billing.services.invoicing.invoice_reports import report_by
        from backend.billing.services.plans import report_changes_of_currency
        from backend.tenancy import makers
        from backend.webhooks import named_addresses, queries
        from backend.webhooks.invoice_events import report_invoice
        from backend.webhooks.thresholds import report_suspended

        report_by(report_invoice)
        accounts.name_address_by(lambda email: named_addresses.choose(named_addresses.BILLING, email))
        makers.register(
            makers.Kind("webhook_endpoint", "whe", "webhooks:write", queries.made_by, lambda rows: rows.delete())
        )
        report_changes_of_currency(report_suspended)
