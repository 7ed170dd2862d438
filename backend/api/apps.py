from django.apps import AppConfig
from django.core import checks


class ApiConfig(AppConfig):
    name = "backend.api"
    label = "api"

    def ready(self) -> None:
        from backend.api.monitoring.deployment import check_deployment

        checks.register(checks.Tags.security, deploy=True)(check_deployment)
