"""Fetches one appended piece of a recording from its URL, then lets it be measured."""

from __future__ import annotations

from backend.jobs.services import JobFailed, Lease
from backend.library.indexing import intake
from backend.library.models import InputSegment
from backend.library.services import contents
from backend.library.services.storage_quota import fetch_limit, release_fetch, reserve_fetch
from backend.library.storage import source_prefix
from backend.tenancy.context import tenant_scope
from backend.tenancy.refusals import Refused
from backend.webhooks.thresholds import report_refusal
from workers.ingest.fetch_source import Fetched, fetch
from workers.runner import FollowUp, Work


def handle(work: Work) -> FollowUp | None:
    with tenant_scope(work.lease.tenant_id):
        piece = intake.queued_piece(work.lease.subject_id)
    if piece is None:
        work.finish()
        return None
    if not piece.content_sha256:
        fetched = _fetched(work, piece)
        work.advance(lambda: contents.share_piece(piece.id, fetched.sha256, size_bytes=fetched.size_bytes))
    unread = work.reading(lambda: contents.unread_object(InputSegment.objects.get(id=piece.id)))
    if unread:
        # At each attempt, because one before may have died between the commit and this.
        work.objects().erase(source_prefix(unread))

    def end() -> None:
        intake.enqueue_intake(piece)
        work.complete()

    work.commit(end)
    return None


def _fetched(work: Work, piece: InputSegment) -> Fetched:
    with tenant_scope(work.lease.tenant_id):
        release_fetch(piece.id)
        limit = fetch_limit(piece.video.api_key_id)

    def received(done: int, total: int) -> None:
        work.require_lease()
        work.progress("fetch", done, total)

    def reserve(size_bytes: int) -> None:
        try:
            with tenant_scope(work.lease.tenant_id):
                reserve_fetch(piece.id, size_bytes)
        except Refused as error:
            with tenant_scope(work.lease.tenant_id):
                report_refusal(error)
            raise JobFailed(error.code, error.detail, retryable=False) from error

    work.stores_under(piece.video_id, source_prefix(piece.object_key))
    return fetch(piece.url, piece.object_key, work.objects(), limit=limit, on_progress=received, reserve=reserve)


def failed(lease: Lease, error: JobFailed) -> None:
    """Record why the piece cannot be used; the piece takes no time in the video."""
    release_fetch(lease.subject_id)
    intake.fail_piece(lease.subject_id, code=error.code, message=str(error))
