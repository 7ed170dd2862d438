"""Takes in one appended piece of a recording that is stored: measures it and sets its position in time."""

from __future__ import annotations

from backend.jobs.services import JobFailed, Lease
from backend.library.indexing import intake
from backend.library.services import contents
from backend.playback.services.renditions import plan_kept
from backend.tenancy.context import tenant_scope
from workers.ingest.probe_video import measure
from workers.ingest.source_digest import digest_of
from workers.runner import FollowUp, Work


def handle(work: Work) -> FollowUp | None:
    with tenant_scope(work.lease.tenant_id):
        piece = intake.queued_piece(work.lease.subject_id)
    if piece is None:
        work.finish()
        return None
    size_bytes = work.objects().head(piece.object_key).size_bytes
    with tenant_scope(work.lease.tenant_id):
        announced = contents.announced_sha256(piece.upload_id)
    if announced:
        digest_of(work, piece.object_key, size_bytes=size_bytes, announced=announced)
    probed = measure(work, piece.object_key)

    def end() -> None:
        intake.store_piece(piece, probed, size_bytes=size_bytes)
        plan_kept(piece.video_id)
        work.complete()

    work.commit(end)
    return None


def failed(lease: Lease, error: JobFailed) -> None:
    """Record why the piece cannot be used; the piece takes no time in the video."""
    intake.fail_piece(lease.subject_id, code=error.code, message=str(error))
