from django.apps import AppConfig


class PlaybackConfig(AppConfig):
    name = "backend.playback"
    label = "playback"
