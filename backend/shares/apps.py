from django.apps import AppConfig


class SharesConfig(AppConfig):
    name = "backend.shares"
    label = "shares"
