"""What the page of a share shows: the answer, the recording, or the events of a span, and nothing around it.

A question that ended without an answer is shown too: that nothing was found, and what was looked at. A text that the
service took back is not shown.

A file of a recording holds more than a span of it, so a span is shown by the events inside it and their pictures, and
by the chunks inside it of an event that begins earlier or ends later. No id, title, file name or metadata of the tenant
is on a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q

from backend.clips.models import Clip, ClipStatus
from backend.clips.queries import CLIP, POSTER, clips, objects_of
from backend.ekg import queries as index
from backend.ekg.models import Chunk, Event
from backend.library import recording
from backend.library.content_types import playback_type
from backend.library.models import Video, VideoStatus
from backend.library.queries import size_of
from backend.library.recording import RecordedPiece
from backend.library.storage import ObjectStorage
from backend.questions.models import Evidence, Question, QuestionStatus, QuestionVideo
from backend.questions.services.derived_text import VIDEO_DELETED
from backend.shares.models import Share
from gpu_workers.engine.clock_text import clock

SHOWN_PIECES, SHOWN_MOMENTS, SHOWN_VIDEOS = 50, 100, 50
_WITHOUT_ANSWER = {
    "insufficient_evidence": "No answer was found in the recordings.",
    "refused": "No answer was given to this question.",
    "budget": "The search ended at its limit before an answer was found.",
}
"""What a page says instead of an answer, by finish_reason."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A stretch of a recording. at: its times for people. picture: URL, "" without one. recording: number, from 1.

    link: where the player of the page jumps to, "" if the page plays nothing.
    """

    at: str
    text: str
    picture: str = ""
    recording: int = 1
    link: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A file of the recording. url: plays it for as long as any URL reads an object. poster: URL, "" without one."""

    at: str
    url: str
    poster: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """What is shown of one share. question, answer: "" for a recording. recordings: number that the answer cites.

    looked_at: for a question without an answer, the times that were searched; more_looked_at: number of recordings that
    are left out.

    opened_bytes: length of what the page plays, of the video with this id. played: the videos of the page's player.
    """

    title: str
    question: str = ""
    answer: str = ""
    moments: list[Moment] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    opened_bytes: int = 0
    video_id: UUID | None = None
    recordings: int = 1
    played: tuple[Video, ...] = ()
    looked_at: tuple[str, ...] = ()
    more_looked_at: int = 0


def is_shown(share: Share) -> bool:
    """Whether there is something to show."""
    if share.question_id is not None:
        return _ended(share.question_id) is not None
    if share.clip_id is not None:
        return _clip(share) is not None
    video = _video(share)
    return video is not None and bool(_in_span(share, video) if _is_span(share) else _pieces(video))


def page_of(share: Share) -> Page | None:
    """Return what a share shows now, inside its tenant's scope; None if what it names is gone."""
    if share.question_id is not None:
        question = _ended(share.question_id)
        if question is None:
            return None
        return _answer(share, question) if question.has_answer else _without_answer(share, question)
    if share.clip_id is not None:
        clip = _clip(share)
        return None if clip is None else _clip_page(share, clip)
    video = _video(share)
    if video is None:
        return None
    if _is_span(share):
        shown = _in_span(share, video)
        return Page(share.title, moments=_moments(video, shown)) if shown else None
    pieces = _pieces(video)
    if not pieces:
        return None
    opened = size_of([piece.object_key for piece in pieces])
    files = _files(video, pieces)
    return Page(share.title, files=files, opened_bytes=opened, video_id=video.id, played=(video,))


def _is_span(share: Share) -> bool:
    return share.start_ms is not None or share.end_ms is not None


def _ended(question_id: object) -> Question | None:
    """Return a question whose search has ended, with an answer or without one."""
    rows = Question.objects.filter(id=question_id, status=QuestionStatus.SUCCEEDED)
    question: Question | None = rows.exclude(finish_detail=VIDEO_DELETED).first()
    return question


def _without_answer(share: Share, question: Question) -> Page:
    rows = QuestionVideo.objects.filter(question_id=question.id).order_by("id")
    ends = list(rows.values_list("indexed_until_ms", "video__duration_ms"))
    looked_at = tuple(
        _looked_at(number, question, indexed if indexed is not None else duration or 0)
        for number, (indexed, duration) in enumerate(ends[:SHOWN_VIDEOS], start=1)
    )
    return Page(
        share.title,
        question.text,
        _WITHOUT_ANSWER.get(question.finish_reason, _WITHOUT_ANSWER["insufficient_evidence"]),
        looked_at=looked_at,
        more_looked_at=max(0, len(ends) - SHOWN_VIDEOS),
    )


def _looked_at(number: int, question: Question, indexed_until_ms: int) -> str:
    """Return which part of a recording of the scope was searched."""
    start_ms = question.start_ms or 0
    end_ms = indexed_until_ms if question.end_ms is None else min(question.end_ms, indexed_until_ms)
    if end_ms <= start_ms:
        return f"Recording {number}: nothing"
    return f"Recording {number}: {_span(start_ms, end_ms)}"


def _answer(share: Share, question: Question) -> Page:
    storage = ObjectStorage()
    cited = list(Evidence.objects.filter(question_id=question.id).order_by("ordinal"))
    numbers = {video: number for number, video in enumerate(dict.fromkeys(row.video_id for row in cited), start=1)}
    played = _played(numbers) if share.play_recordings else ()
    places = {video.id: place for place, video in enumerate(played, start=1)}
    moments = [
        Moment(
            _span(row.start_ms, row.end_ms),
            row.quote,
            storage.presign_get(row.frame_key) if row.frame_key else "",
            numbers[row.video_id],
            _link(places, row),
        )
        for row in cited
    ]
    return Page(share.title, question.text, question.answer, moments, recordings=len(numbers), played=played)


def _played(cited: Iterable[UUID]) -> tuple[Video, ...]:
    """Return those of the cited videos whose recording is there, in their order."""
    rows = Video.objects.exclude(status=VideoStatus.DELETING).filter(source_deleted_at=None).in_bulk([*cited])
    return tuple(rows[video] for video in cited if video in rows)


def _link(places: Mapping[UUID, int], row: Evidence) -> str:
    """Return the fragment (W3C Media Fragments) that names a piece of evidence to the page's player."""
    place = places.get(row.video_id)
    if place is None:
        return ""
    return f"#{f'v={place}&' if place > 1 else ''}t={row.start_ms / 1000},{row.end_ms / 1000}"


def _clip(share: Share) -> Clip | None:
    """Return a clip that is made and has not ended."""
    return None if share.clip_id is None else clips(status=ClipStatus.READY).filter(id=share.clip_id).first()


def _clip_page(share: Share, clip: Clip) -> Page:
    storage, keys = ObjectStorage(), objects_of(clip)
    shown = _span(clip.shown_start_ms or clip.start_ms, clip.shown_end_ms or clip.end_ms)
    url, poster = (
        storage.presign_get(keys[name], content_type=kind)
        for name, kind in ((CLIP, "video/mp4"), (POSTER, "image/jpeg"))
    )
    return Page(share.title, files=[File(shown, url, poster)], opened_bytes=clip.size_bytes, video_id=clip.video_id)


def _video(share: Share) -> Video | None:
    rows = Video.objects.exclude(status=VideoStatus.DELETING).filter(source_deleted_at=None)
    video: Video | None = rows.filter(id=share.video_id).first()
    return video


def _pieces(video: Video) -> list[RecordedPiece]:
    return recording.pieces(video, limit=SHOWN_PIECES)


def _files(video: Video, pieces: list[RecordedPiece]) -> list[File]:
    storage, kind = ObjectStorage(), playback_type(video)
    return [
        File(_span(piece.start_ms, piece.end_ms), storage.presign_get(piece.object_key, content_type=kind))
        for piece in pieces
    ]


def _in_span(share: Share, video: Video) -> list[Event | Chunk]:
    """Return the events that lie inside the span, and the described chunks inside it of other events, by time."""
    part = index.Narrowing()
    inside = Q(start_ms__gte=share.start_ms or 0)
    if share.end_ms is not None:
        inside &= Q(end_ms__lte=share.end_ms)
    events = index.events(video, part).filter(inside)
    chunks = index.chunks(video, part).filter(inside, gap=None).exclude(event_id__in=events.values("id"))
    shown: list[Event | Chunk] = [*events.order_by("n")[:SHOWN_MOMENTS], *chunks.order_by("n")[:SHOWN_MOMENTS]]
    return sorted(shown, key=lambda row: row.start_ms)[:SHOWN_MOMENTS]


def _moments(video: Video, shown: list[Event | Chunk]) -> list[Moment]:
    storage = ObjectStorage()
    pictures = index.first_thumbnails(video, [(row.start_ms, row.end_ms) for row in shown])
    return [
        Moment(
            _span(row.start_ms, row.end_ms),
            row.summary if isinstance(row, Event) else row.description or "",
            storage.presign_get(picture) if picture else "",
        )
        for row, picture in zip(shown, pictures, strict=True)
    ]


def _span(start_ms: int, end_ms: int) -> str:
    return f"{clock(start_ms)}–{clock(end_ms)}"
