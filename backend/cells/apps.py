from django.apps import AppConfig


class CellsConfig(AppConfig):
    name = "backend.cells"
