"""Makes a clip: cuts its span out of the recording, copies or encodes it, and stores it with poster and captions."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from backend.clips.models import ClipCaptions
from backend.clips.queries import CAPTIONS, CLIP, POSTER
from backend.clips.services import clips, orders
from backend.clips.services.orders import ClipOrder
from backend.jobs.services import JobFailed, Lease
from backend.library.storage import READ_URL_LIFETIME
from backend.playback.captions import as_vtt
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.indexing.container import DecoderUnavailable, SourceUnreadable
from gpu_workers.engine.media import clips as media
from gpu_workers.engine.media.clips import MadeClip, NotCopyable, make_clip
from gpu_workers.engine.media.encoding import EncodingFailed, workspace
from workers.endings import without_decoder
from workers.work import FollowUp, Work

URL_LIFETIME: timedelta = 2 * READ_URL_LIFETIME
FONTS = tuple(path for path in ("/usr/share/fonts", "/etc/fonts", "/var/cache/fontconfig") if Path(path).is_dir())
"""Fonts of the host, and how fontconfig finds them, for captions that are drawn."""


def handle(work: Work) -> FollowUp | None:
    with tenant_scope(work.lease.tenant_id):
        order = orders.order_of(work.lease.subject_id)
    if order is None:
        work.finish()
        return None
    with workspace() as folder:
        made = make(work, order, folder)
        size_bytes = store(work, order, folder)

    def end() -> None:
        clips.finish(
            work.lease.subject_id,
            gaps=order.gaps,
            shown_start_ms=made.span.start_ms,
            shown_end_ms=made.span.end_ms,
            width=made.width,
            height=made.height,
            size_bytes=size_bytes,
        )
        work.complete()

    work.commit(end)
    return None


def make(work: Work, order: ClipOrder, folder: Path) -> MadeClip:
    """Make the clip in folder. Raises LeaseLost once the lease is gone, which ends the encoder."""
    storage = work.objects()
    urls = [storage.presign_get(key, expires=URL_LIFETIME) for key in order.object_keys]
    try:
        return make_clip(order.pieces(urls), order.wish(FONTS), folder, on_progress=work.require_lease)
    except NotCopyable as error:
        detail = "The recording cannot be copied into one MP4. Use the mode exact."
        raise JobFailed("clip_needs_exact", detail, retryable=False) from error
    except DecoderUnavailable as error:
        raise without_decoder(work, error.code, str(error)) from error
    except SourceUnreadable as error:
        # Raises StorageAway if the store, and not the recording, is at fault.
        for key in order.object_keys:
            storage.head(key)
        raise JobFailed(error.code, str(error), retryable=error.retryable) from error
    except EncodingFailed as error:
        raise JobFailed(error.code, str(error), retryable=error.retryable) from error


def store(work: Work, order: ClipOrder, folder: Path) -> int:
    """Store the files of the clip. Return their bytes."""
    storage, clip = work.objects(), order.clip
    files = [(CLIP, folder / media.CLIP, "video/mp4"), (POSTER, folder / media.POSTER, "image/jpeg")]
    if clip.captions == ClipCaptions.FILE:
        (folder / CAPTIONS).write_text(as_vtt(order.captions, language=order.language), encoding="utf-8")
        files.append((CAPTIONS, folder / CAPTIONS, "text/vtt"))
    work.stores_under(clip.video_id)
    for name, path, content_type in files:
        work.require_lease()
        storage.put_file(order.folder + name, path, content_type=content_type)
    return sum(path.stat().st_size for _, path, _ in files)


def failed(lease: Lease, error: JobFailed) -> None:
    """Record that the clip cannot be made, and why."""
    clips.fail(lease.subject_id, code=error.code, message=str(error))
