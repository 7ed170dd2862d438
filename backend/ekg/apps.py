from django.apps import AppConfig


class EkgConfig(AppConfig):
    name = "backend.ekg"
    label = "ekg"

    def ready(self) -> None:
        from backend.ekg import queries
        from backend.library import index_contents

        index_contents.register(queries)
