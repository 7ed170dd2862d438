from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "backend.people"
    label = "people"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from backend.people.authentication import ended_members
        from backend.tenancy.authentication import register_endings

        register_endings(ended_members)
