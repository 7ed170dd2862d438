from django.apps import AppConfig
from django.core import checks


class BillingConfig(AppConfig):
    name = "backend.billing"
    label = "billing"

    def ready(self) -> None:
        from backend.billing.hosted_rates import check_hosted_rates
        from backend.billing.services.plans import begin_subscription
        from backend.tenancy.creation import bill_new_tenants

        bill_new_tenants(begin_subscription)
        checks.register(check_hosted_rates, checks.Tags.database, deploy=True)
