from django.apps import AppConfig


class ArchivesConfig(AppConfig):
    name = "backend.archives"
