from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import post_migrate


class TenancyConfig(AppConfig):
    name = "backend.tenancy"
    label = "tenancy"

    def ready(self) -> None:
        from backend.tenancy.isolation import check_isolation

        checks.register(checks.Tags.database)(check_isolation)
        post_migrate.connect(_make_months, sender=self)


def _make_months(*, using: str, **_: object) -> None:
    from backend.tenancy.months import make_months

    if using == "owner":
        make_months(using=using)
