from django.apps import AppConfig


class LibraryConfig(AppConfig):
    name = "backend.library"
    label = "library"

    def ready(self) -> None:
        from backend.api.monitoring import readiness
        from backend.api.tenant_stream import Topic, register_topic
        from backend.billing.services.limits.quotas import register_storage
        from backend.billing.services.machines.reconciliation import count_lost_time
        from backend.jobs.control import Subject, register_subject
        from backend.jobs.dispatching import lost_seconds
        from backend.library.indexing.control import cancel, revive
        from backend.library.indexing.wishes import INDEX_KINDS
        from backend.library.models import Collection, Video
        from backend.library.services.retention import keep_test_objects_briefly
        from backend.library.services.storage_quota import measure_storage
        from backend.library.storage import check_storage
        from backend.tenancy.sandboxes import furnish_sandboxes

        readiness.register("storage", check_storage)
        register_topic(Topic("videos", "video", "vid", "videos:read", Video.objects.all))
        register_topic(Topic("collections", "collection", "col", "videos:read", Collection.objects.all))
        count_lost_time(lost_seconds)
        register_storage(measure_storage)
        furnish_sandboxes(keep_test_objects_briefly)
        for kind in INDEX_KINDS:
            register_subject(kind, Subject(revive, cancel))
