from django.apps import AppConfig


class ErasureConfig(AppConfig):
    name = "backend.erasure"
    label = "erasure"
