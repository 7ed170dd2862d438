"""Deletes a video for good: its objects, graph and rows, and its traces in answers and searches.

The ledger keeps what was billed.
"""

from __future__ import annotations

from backend.ekg.graph_store import GraphStore
from backend.jobs.services import JobFailed, is_worked_on
from backend.library.queries import find_video
from backend.library.recording import object_keys
from backend.library.services.videos import drop_video
from backend.library.storage import ObjectStorage, source_prefix, video_prefix
from backend.questions.queries.evidence import frame_keys
from backend.questions.services import searches
from backend.tenancy.context import tenant_scope
from workers.runner import FollowUp, Work


def handle(work: Work) -> FollowUp | None:
    video_id = work.lease.subject_id
    with tenant_scope(work.lease.tenant_id):
        video = find_video(video_id)
        if is_worked_on(video_id):
            # Objects that a worker stores before it learns of the deletion would outlive the video.
            raise JobFailed("video_in_use", "jobs of the video are still stopping", retryable=True)
        sources = object_keys(video) if video is not None else []
        # A key under the video's own prefix is deleted twice, without harm.
        copies = frame_keys(video_id)
    if video is not None:
        storage = ObjectStorage()
        # Objects first: as long as rows still name them, a second attempt finds the objects that a first one left.
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
        # The job names its video only as its subject, so the job survives the cascade.
        drop_video(video_id)
    return None
