from django.apps import AppConfig


class PlaybackConfig(AppConfig):
    name = "backend.playback"
    label = "playback"

    def ready(self) -> None:
        from backend.library.queries import register_stored
        from backend.playback.queries import rendition_bytes

        register_stored(rendition_bytes)
