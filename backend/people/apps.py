from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "backend.people"
    label = "people"
    default_auto_field = "django.db.models.BigAutoField"
