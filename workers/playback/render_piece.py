"""Makes one piece of a rendition: cuts its span out of the recording, encodes it and stores it with its storyboard."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from backend.jobs.services import JobFailed, Lease
from backend.library.storage import READ_URL_LIFETIME
from backend.playback.services import renditions
from backend.playback.services.renditions import PendingPiece, rendition_prefix
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.indexing.container import DecoderUnavailable, SourceUnreadable
from gpu_workers.engine.media.encoding import EncodingFailed
from gpu_workers.engine.media.renditions import RenderedPiece, render_piece
from workers.endings import without_decoder
from workers.work import FollowUp, Work

URL_LIFETIME: timedelta = 2 * READ_URL_LIFETIME


def handle(work: Work) -> FollowUp | None:
    with tenant_scope(work.lease.tenant_id):
        pending = renditions.pending_piece(work.lease.subject_id)
        if pending is not None:
            renditions.open_next_pieces(pending.piece.video_id)
    if pending is None:
        work.finish()
        return None
    rendered = render(work, pending)
    key, sheet_keys = store(work, pending, rendered)

    def end() -> None:
        renditions.store_piece(pending.piece, rendered, object_key=key, sheet_keys=sheet_keys)
        work.complete()

    work.commit(end)
    return None


def render(work: Work, pending: PendingPiece) -> RenderedPiece:
    """Return the piece. Raises LeaseLost once the lease is gone, which ends the encoder."""
    storage = work.objects()
    url = storage.presign_get(pending.object_key, expires=URL_LIFETIME)
    try:
        return render_piece(
            pending.recording(url), pending.span, tile_ms=pending.piece.tile_ms, on_progress=work.require_lease
        )
    except DecoderUnavailable as error:
        raise without_decoder(work, error.code, str(error)) from error
    except SourceUnreadable as error:
        # Raises StorageAway if the store, and not the recording, is at fault.
        storage.head(pending.object_key)
        raise JobFailed(error.code, str(error), retryable=error.retryable) from error
    except EncodingFailed as error:
        raise JobFailed(error.code, str(error), retryable=error.retryable) from error


def store(work: Work, pending: PendingPiece, rendered: RenderedPiece) -> tuple[str, list[str]]:
    """Store the piece and its sheets. Return their keys, "" for a piece without pictures."""
    piece, storage = pending.piece, work.objects()
    folder = rendition_prefix(work.lease.tenant_id, piece.video_id)
    work.stores_under(piece.video_id)

    def put(name: str, data: bytes, ending: str, content_type: str) -> str:
        # A late attempt, whose bytes may differ, never replaces what the row describes.
        key = f"{folder}{name}-{hashlib.sha256(data).hexdigest()[:16]}.{ending}"
        work.require_lease()
        storage.put(key, data, content_type=content_type)
        return key

    key = put(str(piece.n), rendered.data, "mp4", "video/mp4") if rendered.data else ""
    sheets = [put(f"{piece.n}-{place}", sheet.data, "jpg", "image/jpeg") for place, sheet in enumerate(rendered.sheets)]
    return key, sheets


def failed(lease: Lease, error: JobFailed) -> None:
    """Record that the piece cannot be made: players show a gap there, and the index goes on."""
    renditions.fail_piece(lease.subject_id, code=error.code, retryable=error.retryable)
