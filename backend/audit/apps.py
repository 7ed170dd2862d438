from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "backend.audit"
    label = "audit"

    def ready(self) -> None:
        from backend.api import acts
        from backend.audit.services import record_act

        acts.register(record_act)
