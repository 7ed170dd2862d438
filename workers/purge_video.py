"""Deletes a video for good: objects, graph, rows, and what answers and searches show of it.

What was billed stays in the ledger.
"""

from __future__ import annotations

from django.utils import timezone

from backend.ekg.graph_store import GraphStore
from backend.jobs.models import Job, JobState
from backend.jobs.services import JobFailed
from backend.library.models import Video
from backend.library.recording import object_keys
from backend.library.storage import ObjectStorage, source_prefix, video_prefix
from backend.questions.models import Evidence
from backend.questions.services import searches
from backend.tenancy.context import tenant_scope
from workers.runner import FollowUp, Work


def handle(work: Work) -> FollowUp | None:
    video_id = work.lease.subject_id
    with tenant_scope(work.lease.tenant_id):
        video = Video.objects.filter(id=video_id).first()
        leased = Job.objects.filter(video_id=video_id, state=JobState.RUNNING, lease_until__gt=timezone.now())
        if leased.exists():
            # What a worker stores before it learns of the deletion would outlive it.
            raise JobFailed("video_in_use", "jobs of the video are still stopping", retryable=True)
        sources = object_keys(video) if video is not None else []
        # Copies of its frames beside questions; a key under the video's own prefix is deleted twice without harm.
        copies = list(
            Evidence.objects.filter(video_id=video_id).exclude(frame_key="").values_list("frame_key", flat=True)
        )
    if video is not None:
        storage = ObjectStorage()
        # Objects first: rows that still name them let a second attempt find what a first one left.
        for key in sources:
            storage.delete_prefix(source_prefix(key))
        storage.delete_prefix(video_prefix(work.lease.tenant_id, video_id))
        for key in copies:
            storage.delete(key)
    with work.checkpoint():
        searches.forget_video(video_id)
        GraphStore().lock_video(video_id)
        GraphStore().drop_version(video_id)
        work.complete()
        # The job names its video only as its subject, so it survives the cascade.
        Video.objects.filter(id=video_id).delete()
    return None
