from django.apps import AppConfig


class ClipsConfig(AppConfig):
    name = "backend.clips"
    label = "clips"

    def ready(self) -> None:
        from backend.clips import queries
        from backend.clips.services import clips
        from backend.jobs.control import Subject, register_subject
        from backend.jobs.models import JobKind
        from backend.library.queries import register_stored

        register_stored(queries.clip_bytes)
        register_subject(JobKind.MAKE_CLIP, Subject(clips.revive, clips.cancel))
