"""Plan, make and store the pieces of a rendition. Every write runs inside the checkpoint of a job or a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from backend.jobs.models import ENDED, OPEN, Job, JobKind, JobState
from backend.jobs.services import enqueue, request_cancel_many
from backend.library.models import Collection, InputSegment, InputStatus, ProbedRow, SourceType, Video, VideoStatus
from backend.library.recording import RecordedPiece, is_open
from backend.library.recording import pieces as recorded_pieces
from backend.library.storage import video_prefix
from backend.playback import queries
from backend.playback.models import PieceState, RenditionPiece
from backend.playback.recordings import recording_of
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.media.renditions import Recording, RenderedPiece
from gpu_workers.engine.media.storyboards import LEAST_TILE_MS, tile_ms_of

PIECE_MS, SHORTEST_MS = 120_000, 6_000
"""Length of a piece. A remainder that is shorter than SHORTEST_MS belongs to the piece before it."""
WAITING = 4
"""Number of pieces of a video that wait for a worker at once, so that no long video is in front of all others."""
PRIORITY = -1
ATTEMPTS = 3
PAUSES = (timedelta(minutes=15), timedelta(hours=3), timedelta(hours=24))
"""Time from each failure of a piece to its next try by itself, where another try may help."""
VIEWERS_PAUSE = timedelta(hours=1)
"""Time from the last failure of a piece after which a viewer lets it be tried once more, whatever its reason was."""


def rendition_prefix(tenant_id: UUID, video_id: UUID) -> str:
    """Return the folder of a video's rendition."""
    return f"{video_prefix(tenant_id, video_id)}r/"


def plan_kept(video_id: UUID) -> None:
    """Plan the rendition of what is recorded by now, unless it is made only on demand."""
    video: Video | None = Video.objects.filter(id=video_id).first()
    if video is None:
        return
    chosen = Collection.objects.filter(id=video.collection_id, keeps_renditions=False)
    on_demand = not settings.KEEP_RENDITIONS or chosen.exists()
    # What somebody has begun to watch goes on.
    if not on_demand or queries.pieces(video_id).exists():
        plan(video)


def plan(video: Video) -> None:
    """Plan the rendition of what is recorded by now, and let the first pieces that are missing be made."""
    if video.status == VideoStatus.DELETING or video.duration_ms is None or video.source_deleted_at is not None:
        return
    last = queries.pieces(video.id).last()
    n, until = (0, 0) if last is None else (last.n + 1, last.end_ms)
    rows: list[RenditionPiece] = []
    for segment, span in _spans(video, until):
        rows.append(
            RenditionPiece(
                tenant_id=video.tenant_id, video_id=video.id, segment_id=segment, n=n + len(rows),
                start_ms=span.start_ms, end_ms=span.end_ms, tile_ms=_tile_ms(video),
            )
        )  # fmt: skip
    # Two that plan at once plan the same: positions of inputs never change.
    RenditionPiece.objects.bulk_create(rows, ignore_conflicts=True)
    open_next_pieces(video.id)


def _tile_ms(video: Video) -> int:
    """Return the time between pictures of the storyboard; of a recording that grows nobody knows the length."""
    return LEAST_TILE_MS if is_open(video) else tile_ms_of(video.duration_ms or 0)


def _spans(video: Video, from_ms: int) -> list[tuple[UUID | None, Span]]:
    """Return the spans of new pieces, each inside one input."""
    if video.source_type == SourceType.UPLOAD:
        inputs: Sequence[tuple[UUID | None, int, int]] = [(None, 0, video.duration_ms or 0)]
    else:
        ready = InputSegment.objects.filter(video_id=video.id, status=InputStatus.READY, start_ms__gte=from_ms)
        inputs = [
            (id, start, start + length)
            for id, start, length in ready.order_by("start_ms").values_list("id", "start_ms", "duration_ms")
        ]
    return [(id, span) for id, start, end in inputs if start >= from_ms for span in spans_of(start, end)]


def spans_of(start_ms: int, end_ms: int) -> list[Span]:
    """Return the spans of the pieces of one input."""
    cuts = [*range(start_ms, end_ms, PIECE_MS), end_ms]
    if len(cuts) > 2 and cuts[-1] - cuts[-2] < SHORTEST_MS:
        del cuts[-2]
    return [Span(start, end) for start, end in pairwise(cuts)]


def open_next_pieces(video_id: UUID) -> None:
    """Enqueue the earliest pending pieces until WAITING of the video wait for a worker."""
    # A piece that waits for its next try holds up no other.
    waiting = Job.objects.filter(kind=JobKind.RENDER_PIECE, video_id=video_id, state=JobState.QUEUED, due=True)
    free = WAITING - waiting.count()
    if free > 0:
        for piece in _without_job(video_id, PieceState.PENDING)[:free]:
            _enqueue(piece)


def try_failed_pieces(video_id: UUID) -> None:
    """Let some of the pieces that could not be made be tried once more, because somebody wants to watch them.

    Those that will be tried by themselves, and those that failed within VIEWERS_PAUSE, are left alone.
    """
    old = _without_job(video_id, PieceState.FAILED).filter(failed_at__lte=timezone.now() - VIEWERS_PAUSE)
    for piece in old[:WAITING]:
        _enqueue(piece)


def _without_job(video_id: UUID, state: PieceState) -> QuerySet[RenditionPiece]:
    """Return the pieces in a state for which no job waits or runs."""
    jobs = Job.objects.filter(OPEN, kind=JobKind.RENDER_PIECE, video_id=video_id, subject_id=OuterRef("id"))
    return queries.pieces(video_id).filter(~Exists(jobs), state=state)


def _enqueue(piece: RenditionPiece, *, wait: timedelta = timedelta(0)) -> None:
    enqueue(
        kind=JobKind.RENDER_PIECE,
        subject_id=piece.id,
        video_id=piece.video_id,
        dedupe_key=f"render:{piece.id}",
        max_attempts=ATTEMPTS,
        priority=PRIORITY,
        wait=wait,
    )


@dataclass(frozen=True, slots=True)
class PendingPiece:
    """A worker's input. object_key: of the file that holds the span."""

    piece: RenditionPiece
    object_key: str
    recorded: RecordedPiece
    row: ProbedRow

    @property
    def span(self) -> Span:
        return Span(self.piece.start_ms, self.piece.end_ms)

    def recording(self, url: str) -> Recording:
        """Return what a renderer needs to know of the file at url."""
        return recording_of(self.recorded, self.row, url)


def pending_piece(piece_id: UUID) -> PendingPiece | None:
    """Return a piece to make; None if it is made, or if its recording is being deleted."""
    piece = queries.unmade_pieces().filter(id=piece_id).first()
    if piece is None:
        return None
    video = Video.objects.exclude(status=VideoStatus.DELETING).filter(id=piece.video_id).first()
    recorded = [] if video is None else recorded_pieces(video, start_ms=piece.start_ms, end_ms=piece.start_ms + 1)
    if video is None or not recorded:
        return None
    row: ProbedRow = video if piece.segment_id is None else InputSegment.objects.get(id=piece.segment_id)
    return PendingPiece(piece, recorded[0].object_key, recorded[0], row)


def store_piece(piece: RenditionPiece, rendered: RenderedPiece, *, object_key: str, sheet_keys: Sequence[str]) -> None:
    """Record a piece whose objects are stored."""
    sheets = [
        (key, len(sheet.data), sheet.first, sheet.tiles) for key, sheet in zip(sheet_keys, rendered.sheets, strict=True)
    ]
    queries.unmade_pieces().filter(id=piece.id).update(
        state=PieceState.READY,
        error_code="",
        begin_ms=rendered.begin_ms,
        until_ms=rendered.end_ms,
        object_key=object_key,
        size_bytes=len(rendered.data) + sum(size for _, size, _, _ in sheets),
        init_bytes=rendered.file.init_bytes,
        fragments=[[one.size, one.start_us] for one in rendered.file.fragments],
        is_copy=rendered.is_copy,
        sheets=sheets,
        rendered_at=timezone.now(),
    )
    open_next_pieces(piece.video_id)


def fail_piece(piece_id: UUID, *, code: str, retryable: bool) -> None:
    """Record that a piece cannot be made. The index does not notice, and the pieces after it go on.

    retryable: whether the same recording may be rendered later, as after a crash: then the piece is tried again by
    itself, after each of PAUSES.
    """
    piece = queries.unmade_pieces().filter(id=piece_id).first()
    if piece is None:
        return
    queries.unmade_pieces().filter(id=piece_id).update(
        state=PieceState.FAILED, error_code=code, failures=F("failures") + 1, failed_at=timezone.now()
    )
    if retryable and piece.failures < len(PAUSES):
        _enqueue(piece, wait=PAUSES[piece.failures])
    open_next_pieces(piece.video_id)


def forget_rendition(video_id: UUID) -> list[str]:
    """Delete the pieces of a video, and return the folder whose objects are to be erased, if there is one."""
    jobs = Job.objects.filter(kind=JobKind.RENDER_PIECE, video_id=video_id).exclude(ENDED)
    request_cancel_many(dedupe_keys=list(jobs.values_list("dedupe_key", flat=True)))
    deleted, _ = queries.pieces(video_id).delete()
    tenant_id = Video.objects.values_list("tenant_id", flat=True).get(id=video_id)
    return [rendition_prefix(tenant_id, video_id)] if deleted else []
