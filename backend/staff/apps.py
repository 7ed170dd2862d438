from django.apps import AppConfig


class StaffConfig(AppConfig):
    name = "backend.staff"
    label = "staff"

    def ready(self) -> None:
        from backend.audit import installation_log
        from backend.staff.services import note_command

        installation_log.register(note_command)
