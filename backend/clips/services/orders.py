"""What a worker needs to make a clip, read at once inside the open tenant_scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast
from uuid import UUID

from backend.api.public_ids import encode
from backend.clips.models import Clip, ClipCaptions, ClipStatus
from backend.clips.queries import Gap, folder_of, gaps_within
from backend.library.models import InputSegment, Video, VideoStatus
from backend.library.recording import RecordedPiece, recorded_files
from backend.library.recording import pieces as recorded_pieces
from backend.library.wall_clocks import filmed, fitted_clocks
from backend.playback.captions import Cue, as_srt
from backend.playback.recordings import recording_of
from backend.playback.transcripts import spoken_cues
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.media.clips import ClipMode, ClipPiece, ClipWish

PRODUCT = "AVA Cloud"


@dataclass(frozen=True, slots=True)
class ClipOrder:
    """A clip to make. files: what holds the recording in its span, in order. captions: counted from its start.

    filmed: when its span begins and ends on the wall clock, as far as that is known.
    """

    clip: Clip
    files: tuple[tuple[RecordedPiece, Video | InputSegment], ...]
    captions: tuple[Cue, ...]
    language: str
    filmed: dict[str, datetime | None]
    gaps: tuple[Gap, ...]

    @property
    def folder(self) -> str:
        return folder_of(self.clip)

    @property
    def object_keys(self) -> list[str]:
        return [piece.object_key for piece, _ in self.files]

    def pieces(self, urls: Sequence[str]) -> list[ClipPiece]:
        """Return the files with their URLs, in the same order, and the part of the span that each holds."""
        clip = self.clip
        return [
            ClipPiece(
                recording_of(piece, row, url),
                Span(max(clip.start_ms, piece.start_ms), min(clip.end_ms, piece.end_ms)),
            )
            for (piece, row), url in zip(self.files, urls, strict=True)
        ]

    def wish(self, fonts: tuple[str, ...]) -> ClipWish:
        """Return what the clip shall be. fonts: folders with fonts for its captions."""
        burnt = as_srt(self.captions) if self.clip.captions == ClipCaptions.BURNT else ""
        return ClipWish(mode=cast("ClipMode", self.clip.mode), burnt=burnt, fonts=fonts, tags=self._tags())

    def _tags(self) -> dict[str, str]:
        """Return the metadata of the file."""
        clip = self.clip
        tags = {
            "title": clip.title,
            "product": PRODUCT,
            "clip_id": encode("clp", clip.id),
            "video_id": encode("vid", clip.video_id),
            "question_id": "" if clip.question_id is None else encode("qst", clip.question_id),
            "start_ms": str(clip.start_ms),
            "end_ms": str(clip.end_ms),
        }
        tags |= {name: moment.isoformat(timespec="milliseconds") for name, moment in self.filmed.items() if moment}
        return {name: value for name, value in tags.items() if value}


def order_of(clip_id: UUID) -> ClipOrder | None:
    """Return the order of a clip; None if it is made, over or gone, or if its recording goes."""
    rows = Clip.objects.select_related("video").exclude(video__status=VideoStatus.DELETING)
    clip: Clip | None = rows.filter(id=clip_id, status=ClipStatus.QUEUED).first()
    if clip is None or clip.video.source_deleted_at is not None:
        return None
    video, span = clip.video, {"start_ms": clip.start_ms, "end_ms": clip.end_ms}
    files = zip(recorded_pieces(video, **span), recorded_files(video, **span), strict=True)
    cues, language = ([], "") if clip.captions == ClipCaptions.NONE else spoken_cues(video, **span)
    return ClipOrder(
        clip=clip,
        files=tuple(files),
        captions=tuple(cues),
        language=language,
        filmed=filmed(fitted_clocks([video])[video.id], clip.start_ms, clip.end_ms),
        gaps=tuple(gaps_within(video, clip.start_ms, clip.end_ms)),
    )
