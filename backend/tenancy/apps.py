from django.apps import AppConfig


class TenancyConfig(AppConfig):
    name = "backend.tenancy"
    label = "tenancy"
