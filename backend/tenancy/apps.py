from django.apps import AppConfig
from django.core import checks


class TenancyConfig(AppConfig):
    name = "backend.tenancy"
    label = "tenancy"

    def ready(self) -> None:
        from backend.tenancy.isolation import check_isolation

        checks.register(checks.Tags.database)(check_isolation)
