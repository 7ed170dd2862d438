"""Deletes a video for good: its objects, graph and rows, and its traces in answers and searches.

Questions that read the video are canceled first, and ended questions lose what they read from
it. The ledger keeps what was billed. A tombstone remains until a sweep has found nothing more
(workers.deletion.sweep_deleted).
"""

from __future__ import annotations

from backend.clips.services import clips
from backend.ekg.graph_store import GraphStore
from backend.jobs.services import JobFailed, is_worked_on
from backend.library.queries import find_video
from backend.library.recording import erasable_keys
from backend.library.services import deletions
from backend.library.services.videos import drop_video
from backend.library.storage import ObjectStorage, source_prefix, video_prefix
from backend.questions.queries.pinned_versions import is_being_answered_from, open_questions_on
from backend.questions.services import derived_text
from backend.questions.services.derived_text import VIDEO_DELETED
from backend.questions.services.questions import cancel_question
from backend.tenancy.context import tenant_scope
from workers.runner import FollowUp, Work


def handle(work: Work) -> FollowUp | None:
    video_id = work.lease.subject_id
    stop_questions(work)
    with tenant_scope(work.lease.tenant_id):
        video = find_video(video_id)
        if is_worked_on(video_id) or is_being_answered_from(video_id):
            # Objects that a worker stores before it learns of the deletion would outlive the video.
            raise JobFailed("video_in_use", "jobs of the video are still stopping", retryable=True)
        sources = erasable_keys(video) if video is not None else []
    prefixes = [video_prefix(work.lease.tenant_id, video_id), *map(source_prefix, sources)]
    if video is not None:
        storage = ObjectStorage()
        # Objects first: as long as rows still name them, a second attempt finds the objects that a first one left.
        for prefix in prefixes:
            storage.erase(prefix)

    def drop() -> None:
        derived_text.forget_video(video_id)
        clips.forget_video(video_id)
        GraphStore().lock_video(video_id)
        GraphStore().drop_version(video_id)
        work.complete()
        if video is not None:
            deletions.bury_video(video_id, prefixes)
        # The job names its video only as its subject, so the job survives the cascade.
        drop_video(video_id)

    work.commit(drop)
    return None


def stop_questions(work: Work) -> None:
    """Cancel the questions that read the video, or that have no other video to read.

    A question of several videos that has not begun loses the video from its scope. Each question is canceled in a
    transaction of its own, outside the checkpoint: an outcome locks its job before this one.
    """
    with tenant_scope(work.lease.tenant_id):
        questions = open_questions_on(work.lease.subject_id)
    for question_id in questions:
        work.require_lease()
        with tenant_scope(work.lease.tenant_id):
            cancel_question(question_id=question_id, detail=VIDEO_DELETED)
