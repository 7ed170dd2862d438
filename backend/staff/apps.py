from django.apps import AppConfig


class StaffConfig(AppConfig):
    name = "backend.staff"
    label = "staff"
