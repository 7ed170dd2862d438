"""What can be watched of a video now: the pieces that are ready, up to the first one that is still to be made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from backend.library.models import InputSegment, SourceType, Video
from backend.library.recording import is_open
from backend.playback import queries
from backend.playback.models import PieceState, RenditionPiece
from backend.playback.playlists import Entry, PlayedPiece, entries_of


@dataclass(frozen=True, slots=True)
class Rendition:
    """entries: of the playlist. until_ms: end of what can be played, or failed to be made. is_complete: whether nothing
    is still to be made. has_failures: whether a piece could not be made, so that a gap stands for it. recorded_at: for
    each input, its time in the video and the moment that it shows."""

    entries: tuple[Entry, ...]
    until_ms: int
    is_complete: bool
    has_failures: bool
    recorded_at: Mapping[UUID | None, tuple[int, datetime]]

    @property
    def playable_ms(self) -> int:
        return self.until_ms if self.is_playable else 0

    @property
    def is_playable(self) -> bool:
        return any(entry.offset is not None for entry in self.entries)

    @property
    def state(self) -> str:
        if self.is_complete:
            return "complete" if self.is_playable else "failed"
        return "growing" if self.is_playable else "pending"


def rendition_of(video: Video) -> Rendition:
    """Return what can be watched of a video, inside the open tenant_scope."""
    played: list[PlayedPiece] = []
    made, has_failures = True, False
    for piece in queries.pieces(video.id):
        if piece.state == PieceState.PENDING:
            made = False
            break
        has_failures |= piece.state == PieceState.FAILED
        played.append(_played(piece))
    until_ms = max((piece.until_ms for piece in played), default=0)
    is_complete = made and _is_planned(video, played)
    return Rendition(tuple(entries_of(played)), until_ms, is_complete, has_failures, _recorded_at(video))


def _played(piece: RenditionPiece) -> PlayedPiece:
    if piece.state == PieceState.FAILED:
        return PlayedPiece(piece.n, piece.segment_id, piece.start_ms, piece.end_ms)
    fragments = tuple((size, start_us) for size, start_us in piece.fragments)
    begin, until = piece.begin_ms or piece.start_ms, piece.until_ms or piece.end_ms
    return PlayedPiece(piece.n, piece.segment_id, begin, until, piece.init_bytes, fragments)


def _is_planned(video: Video, played: list[PlayedPiece]) -> bool:
    """Whether the pieces reach to the end of a recording that does not grow."""
    if video.duration_ms is None or is_open(video) or not played:
        return video.source_deleted_at is not None
    last = queries.pieces(video.id).last()
    return last is not None and last.end_ms >= video.duration_ms


def _recorded_at(video: Video) -> dict[UUID | None, tuple[int, datetime]]:
    if video.source_type == SourceType.UPLOAD:
        return {} if video.recorded_at is None else {None: (0, video.recorded_at)}
    rows = InputSegment.objects.filter(video_id=video.id).exclude(recorded_at=None).exclude(start_ms=None)
    return {id: (start, at) for id, start, at in rows.values_list("id", "start_ms", "recorded_at")}
