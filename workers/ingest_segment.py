"""Takes in one appended piece of a recording: fetches it if it has a URL, probes it, gives it its place in time."""

from __future__ import annotations

from django.conf import settings
from django.utils import timezone

from backend.jobs.services import JobFailed, Lease
from backend.library.indexing.plan import settle
from backend.library.models import InputSegment, InputStatus, Video, VideoStatus
from backend.library.storage import ObjectStorage
from backend.tenancy.context import tenant_scope
from workers.fetch_source import fetch
from workers.probe_video import measure, measured_columns
from workers.runner import FollowUp, Work


def handle(work: Work) -> FollowUp | None:
    with tenant_scope(work.lease.tenant_id):
        piece = InputSegment.objects.filter(id=work.lease.subject_id, status=InputStatus.QUEUED).first()
        if piece is not None and Video.objects.filter(id=piece.video_id, status=VideoStatus.DELETING).exists():
            piece = None
    if piece is None:
        with work.checkpoint():
            work.complete()
        return None

    def received(done: int, total: int) -> None:
        work.require_lease()
        work.progress("fetch", done, total)

    if piece.url:
        fetch(piece.url, piece.object_key, limit=settings.MAX_UPLOAD_BYTES, on_progress=received)
    size = ObjectStorage().head(piece.object_key).size_bytes
    found = measure(piece.object_key)
    with work.checkpoint():
        InputSegment.objects.filter(id=piece.id).update(
            status=InputStatus.READY, url="", size_bytes=size, ready_at=timezone.now(), **measured_columns(found)
        )
        settle(piece.video_id)
        work.complete()
    return None


def failed(lease: Lease, error: JobFailed) -> None:
    """A piece that cannot be used takes no time; those behind it move up."""
    piece = InputSegment.objects.filter(id=lease.subject_id, status=InputStatus.QUEUED).first()
    if piece is None:
        return
    InputSegment.objects.filter(id=piece.id).update(
        status=InputStatus.FAILED, url="", error_code=error.code, error_message=str(error)
    )
    settle(piece.video_id)
