"""Which objects a job may read or write while its lease is held."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from django.db.models.functions import Now

from backend.clips.models import Clip
from backend.clips.queries import CAPTIONS, CLIP, POSTER, folder_of
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import InputSegment, Segment, Video
from backend.library.services.contents import is_read
from backend.library.storage import (
    question_prefix,
    source_key,
    tenant_prefix,
    version_prefix,
    video_prefix,
)
from backend.playback.models import RenditionPiece
from backend.playback.services.renditions import rendition_prefix
from backend.questions.models import QuestionVideo, SearchVideo

MOST_PUTS = 64
"""Maximum number of pictures that one request of a job may store."""
MEDIA = (".jpg", ".mp4", ".vtt")
"""Endings of what jobs make."""
READ = frozenset({"get", "head"})
FETCH = frozenset({"head", "begin", "part", "complete", "abort", "clear", "delete"})
_KEY = re.compile(r"t/[0-9a-f-]{36}/[uv]/[0-9a-f-]{36}/[A-Za-z0-9-]+(/[A-Za-z0-9-]+)*(\.jpg|\.mp4|\.vtt)?")


def leased_job(job_id: UUID, token: int) -> Job | None:
    """Return the job if this lease of it is held now, else None. The job's tenant must be entered."""
    held = Job.objects.filter(
        id=job_id, lease_token=token, state=JobState.RUNNING, lease_until__gt=Now(), cancel_requested_at=None
    )
    return held.first()


def may_put(job: Job, keys: list[str]) -> bool:
    """Whether a job whose lease is held may store all of these pictures and pieces. The job's tenant must be entered.

    A rule for pictures judges the folder and the ending, so one picture of a folder stands for those next to it.
    """
    if not 0 < len(keys) <= MOST_PUTS or not all(_KEY.fullmatch(key) and key.endswith(MEDIA) for key in keys):
        return False
    folders = {(key.rpartition("/")[0], key.rpartition(".")[2]): key for key in keys}
    return all(may(job, "put", key) for key in folders.values())


def may(job: Job, operation: str, key: str) -> bool:
    """Whether a job whose lease is held may do this with the object. The job's tenant must be entered."""
    if not _KEY.fullmatch(key) or not key.startswith(tenant_prefix(job.tenant_id)):
        return False
    rule = _RULES.get(JobKind(job.kind))
    return rule is not None and rule(job, operation, key)


def _probe(job: Job, operation: str, key: str) -> bool:
    video = Video.objects.filter(id=job.subject_id).first()
    if video is None:
        return False
    if operation in READ:
        return bool(key == video.object_key)
    # Its own upload, once the video shares the object of another one and nobody reads this one.
    own = video.upload_id is not None and key == source_key(job.tenant_id, video.upload_id)
    return operation == "erase" and own and not is_read(key)


def _fetch(job: Job, operation: str, key: str) -> bool:
    if key != source_key(job.tenant_id, job.subject_id):
        return False
    if operation in FETCH:
        # Until all its bytes are stored: from then on another recording may share them.
        return _is_piece(key, id=job.subject_id, content_sha256="")
    return operation == "erase" and _is_fetched(job.subject_id) and not is_read(key)


def _ingest(job: Job, operation: str, key: str) -> bool:
    return operation in READ and _is_piece(key, id=job.subject_id)


def _observe(job: Job, operation: str, key: str) -> bool:
    segment = Segment.objects.filter(id=job.subject_id).first()
    if segment is None:
        return False
    if operation in READ:
        return _is_source(key, [segment.video_id])
    frames = f"{version_prefix(job.tenant_id, segment.video_id, segment.index_version)}frames/"
    return operation == "put" and key.startswith(frames) and key.endswith(".jpg")


def _render(job: Job, operation: str, key: str) -> bool:
    piece = RenditionPiece.objects.filter(id=job.subject_id).first()
    if piece is None:
        return False
    if operation in READ:
        return _is_source(key, [piece.video_id])
    folder = rendition_prefix(job.tenant_id, piece.video_id)
    return operation == "put" and key.startswith(folder) and key.endswith(MEDIA)


def _assemble(job: Job, operation: str, key: str) -> bool:
    return operation in READ and job.video_id is not None and _is_picture(job, key, [job.video_id])


def _clip(job: Job, operation: str, key: str) -> bool:
    clip = Clip.objects.filter(id=job.subject_id).first()
    if clip is None:
        return False
    if operation in READ:
        return _is_source(key, [clip.video_id])
    return operation == "put" and key in {folder_of(clip) + name for name in (CLIP, POSTER, CAPTIONS)}


def _answer(job: Job, operation: str, key: str) -> bool:
    rows = QuestionVideo.objects.filter(question_id=job.subject_id)
    asked: list[UUID] = list(rows.values_list("video_id", flat=True))
    if operation in READ:
        return _is_source(key, asked) or _is_picture(job, key, asked)
    folders = (question_prefix(job.tenant_id, video_id, job.subject_id) for video_id in asked)
    return operation == "put" and key.startswith(tuple(folders)) and key.endswith(".jpg")


def _search(job: Job, operation: str, key: str) -> bool:
    rows = SearchVideo.objects.filter(search_id=job.subject_id)
    return operation in READ and _is_picture(job, key, list(rows.values_list("video_id", flat=True)))


def _is_piece(key: str, **where: Any) -> bool:
    return bool(InputSegment.objects.filter(object_key=key, **where).exists())


def _is_fetched(piece_id: UUID) -> bool:
    return bool(InputSegment.objects.filter(id=piece_id).exclude(content_sha256="").exists())


def _is_source(key: str, videos: list[UUID]) -> bool:
    return bool(Video.objects.filter(id__in=videos, object_key=key).exists()) or _is_piece(key, video_id__in=videos)


def _is_picture(job: Job, key: str, videos: list[UUID]) -> bool:
    return key.endswith(".jpg") and key.startswith(tuple(video_prefix(job.tenant_id, video) for video in videos))


_RULES = {
    JobKind.PROBE_VIDEO: _probe,
    JobKind.FETCH_SEGMENT: _fetch,
    JobKind.INGEST_SEGMENT: _ingest,
    JobKind.OBSERVE_SEGMENT: _observe,
    JobKind.RENDER_PIECE: _render,
    JobKind.ASSEMBLE_VIDEO: _assemble,
    JobKind.MAKE_CLIP: _clip,
    JobKind.ANSWER_QUESTION: _answer,
    JobKind.SEARCH_EVENTS: _search,
}
