from django.apps import AppConfig


class EkgConfig(AppConfig):
    name = "backend.ekg"
    label = "ekg"
