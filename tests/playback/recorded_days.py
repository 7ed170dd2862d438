"""A long recording that a recorder sent in files: its rows, without any media."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.utils import timezone

from backend.library.models import InputSegment, InputStatus, SourceType, Video, VideoStatus
from backend.playback.queries import pieces
from backend.playback.services import renditions
from gpu_workers.engine.media.fragments import Fragment, FragmentedFile
from gpu_workers.engine.media.renditions import RenderedPiece
from tests.conftest import Cast

FILES, MISSING, UNPLAYABLE = 40, 17, 30
"""Number of files of 30 s, the one that never arrived, and the one that could not be rendered."""
BEGAN = datetime(2026, 3, 1, 8, tzinfo=UTC)


def forty_files(cast: Cast) -> UUID:
    """Return a recording of files that a recorder appended, and whose pieces are rendered."""
    tenant = cast.tenant_id
    with cast.scope():
        length = 30_000 * (FILES - 1)
        video: Video = Video.objects.create(
            tenant_id=tenant, title="Gate", source_type=SourceType.SEGMENTS, status=VideoStatus.READY,
            duration_ms=length, indexed_until_ms=length, input_closed_at=timezone.now(),
        )  # fmt: skip
        for n in range(FILES):
            place = n - (n > MISSING)
            fields = {"status": InputStatus.READY, "start_ms": 30_000 * place, "duration_ms": 30_000}
            if n == MISSING:
                fields = {"status": InputStatus.FAILED}
            InputSegment.objects.create(
                tenant_id=tenant, video_id=video.id, n=n, recorded_at=BEGAN + timedelta(seconds=30 * n), **fields
            )
        renditions.plan(video)
        rows = list(pieces(video.id))
        for piece in rows:
            if piece.n == UNPLAYABLE - 1:
                renditions.fail_piece(piece.id, code="decode_error", retryable=False)
                continue
            parts = tuple(Fragment(1_000 * k, 1_000, 1_000 * piece.start_ms + 6_000_000 * k) for k in range(5))
            rendered = RenderedPiece(b"", piece.start_ms, piece.end_ms, FragmentedFile(900, parts), is_copy=True)
            renditions.store_piece(piece, rendered, object_key=f"{piece.n}.mp4", sheet_keys=[])
        return UUID(str(video.id))
