from django.apps import AppConfig


class LibraryConfig(AppConfig):
    name = "backend.library"
    label = "library"

    def ready(self) -> None:
        from backend.api import readiness
        from backend.library.storage import check_storage

        readiness.register("storage", check_storage)
