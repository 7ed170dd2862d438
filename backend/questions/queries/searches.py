"""Reads of searches, within the entered tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from backend.api.public_ids import encode
from backend.questions.models import OPEN, Failure, Search, SearchVideo, failure_of
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.retrieval.moments import FoundSpan, RankedMoment, moments

OBJECTS = "objects"
"""Mode of a search for tracked objects; the other modes find events (engine.retrieval.find_events.MODES)."""

ITEM_PREFIXES = {"event": "evt", "words": "evt", "entity": "ent", "name": "ent", "frame": "frm", "object": "obj"}
"""Prefixes of the public ids of what a view, or a kind of text, names. Lines and topics have no public ids."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an event was found: the view, its similarity, and the words that matched ("" if the event itself matched).

    item: id of the thing that matched, as its view names things; None if several did.
    """

    view: str
    similarity: float
    text: str
    item: UUID | None = None

    @property
    def item_id(self) -> str | None:
        """Return the public id of the thing that matched; None if customers know it by no id."""
        prefix = ITEM_PREFIXES.get(self.view)
        return None if prefix is None or self.item is None else encode(prefix, self.item)


@dataclass(frozen=True, slots=True)
class Match:
    """A text of an event that shows what was searched for. ranges: [start, end] in characters (code points) of text.

    kind: engine.retrieval.highlights.HighlightKind. start_ms, end_ms: when it is spoken or shown, else None.
    """

    kind: str
    text: str
    ranges: tuple[tuple[int, int], ...]
    start_ms: int | None = None
    end_ms: int | None = None
    item: UUID | None = None

    @property
    def item_id(self) -> str | None:
        """Return the public id of the thing that has the name; None for other texts and for topics."""
        prefix = ITEM_PREFIXES.get(self.kind)
        return None if prefix is None or self.item is None else encode(prefix, self.item)


@dataclass(frozen=True, slots=True)
class Inside:
    """A moment inside an event that fits by itself. view: engine.retrieval.scored_search.PartView. item: the frame."""

    view: str
    start_ms: int
    end_ms: int
    score: float
    text: str = ""
    item: UUID | None = None

    @property
    def span(self) -> Span:
        return Span(self.start_ms, self.end_ms)

    @property
    def frame_id(self) -> str | None:
        """Return the public id of the frame; None for speech and writing."""
        return None if self.item is None else encode("frm", self.item)


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """What the scores of a search mean, and what its minimum score left out.

    calibrated: whether a score is a measured chance. min_score: the minimum that counted. left_out: events that were
    found with a lower score; best_left_out: the highest of these scores. readable: whether any video of the scope was
    indexed at all. kept: number of results when the search ended. compared_by: what a search for objects compared the
    query with (engine.retrieval.object_search.ComparedBy), "" for a search for events.
    """

    calibrated: bool
    min_score: float
    left_out: int = 0
    best_left_out: float | None = None
    readable: bool = True
    kept: int = 0
    compared_by: str = ""


@dataclass(frozen=True, slots=True)
class EmptyReason:
    """Why a search found nothing. best_score: of the best event that was left out."""

    code: str
    message: str
    best_score: float | None = None


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """One event that was found. n: its number in its video. start_ms, end_ms, frame_ms: times of the video. score: 0 to
    1.

    frame_ms, frame_key: the event's best frame in the scope, None and "" if it has none there.
    """

    video_id: UUID
    event_id: UUID
    n: int
    start_ms: int
    end_ms: int
    summary: str
    score: float
    frame_ms: int | None
    frame_key: str
    reasons: tuple[Reason, ...]
    highlights: tuple[Match, ...] = ()
    moments: tuple[Inside, ...] = ()

    @classmethod
    def stored(cls, result: Mapping[str, Any]) -> FoundEvent:
        """Return a result as a search stores it in `results`."""
        ids = {name: UUID(result[name]) for name in ("video_id", "event_id")}
        reasons = tuple(Reason(**_with_item(reason)) for reason in result["reasons"])
        matches = tuple(Match(**_with_item(match)) for match in result.get("highlights", ()))
        inside = tuple(Inside(**_with_item(moment)) for moment in result.get("moments", ()))
        return cls(**{**result, **ids, "reasons": reasons, "highlights": matches, "moments": inside})


@dataclass(frozen=True, slots=True)
class FoundObject:
    """One tracked object that was found. n: its number in its video. start_ms, end_ms: the time around its best moment
    in which it is visible without a break. score: 0 to 1.

    frame_ms, frame_key: the frame that is nearest to its best moment, None and "" if none shows it.
    """

    video_id: UUID
    object_id: UUID
    n: int
    category: str
    colour: str
    start_ms: int
    end_ms: int
    score: float
    frame_ms: int | None
    frame_key: str

    @classmethod
    def stored(cls, result: Mapping[str, Any]) -> FoundObject:
        """Return a result as a search stores it in `results`."""
        return cls(**{**result, **{name: UUID(result[name]) for name in ("video_id", "object_id")}})


def _with_item(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {**stored, "item": UUID(stored["item"]) if stored.get("item") else None}


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """A result with the title of its video."""

    found: FoundEvent
    video_title: str

    @property
    def moments(self) -> tuple[InsideVideo, ...]:
        """Return the moments inside the event, best first."""
        return tuple(InsideVideo(self.found.video_id, moment) for moment in self.found.moments)


@dataclass(frozen=True, slots=True)
class ShownObject:
    """An object of the results with the title of its video."""

    found: FoundObject
    video_title: str


@dataclass(frozen=True, slots=True)
class InsideVideo:
    """A moment inside an event, with its video, whose clock says when it was filmed."""

    video_id: UUID
    moment: Inside

    @property
    def span(self) -> Span:
        return self.moment.span


@dataclass(frozen=True, slots=True)
class SearchView:
    """A search with the videos of its scope that still exist. titles: of these videos."""

    search: Search
    video_ids: tuple[UUID, ...]
    titles: Mapping[UUID, str]

    @property
    def found(self) -> tuple[FoundEvent, ...]:
        """Return the events of the results, best first; none if the search is for objects."""
        return () if for_objects(self.search) else tuple(FoundEvent.stored(result) for result in self.search.results)

    @property
    def results(self) -> tuple[ShownEvent, ...]:
        """Return the events of the results with their videos' titles, best first."""
        return tuple(ShownEvent(event, self.titles.get(event.video_id, "")) for event in self.found)

    @property
    def objects(self) -> tuple[ShownObject, ...]:
        """Return the objects of the results with their videos' titles, best first; none if it is for events."""
        found = (FoundObject.stored(result) for result in self.search.results if for_objects(self.search))
        return tuple(ShownObject(thing, self.titles.get(thing.video_id, "")) for thing in found)

    @property
    def compared_by(self) -> str | None:
        """Return what a search for objects compared the query with; None while it is open, and for events."""
        return (self.scores.compared_by if self.scores is not None else "") or None

    @property
    def result_count(self) -> int:
        """Return the number of results."""
        return len(self.search.results)

    @property
    def moments(self) -> Sequence[RankedMoment]:
        """Return the stretches of time that the results make up, best first."""
        return moments(
            [
                FoundSpan(event.video_id, event.event_id, event.n, Span(event.start_ms, event.end_ms), event.score)
                for event in self.found
            ]
        )

    @property
    def scores(self) -> ScoreReport | None:
        """Return what the scores mean; None while the search has no results."""
        return scores_of(self.search)

    @property
    def calibrated(self) -> bool | None:
        """Return whether the scores are measured chances; None while the search has no results."""
        return None if self.scores is None else self.scores.calibrated

    @property
    def min_score(self) -> float | None:
        """Return the minimum score of a result: the request's, or the usual one once it is known."""
        asked: float | None = self.search.settings.get("min_score")
        return asked if asked is not None or self.scores is None else self.scores.min_score

    @property
    def empty_reason(self) -> EmptyReason | None:
        """Return why the search found nothing; None if it found something, or has no outcome."""
        return empty_reason_of(self.search)

    @property
    def usage(self) -> dict[str, Any] | None:
        """Return the consumption of the search's model calls; None while it has no results."""
        return self.search.usage or None

    @property
    def timings(self) -> dict[str, int] | None:
        """Return durations in ms; None while the search has no results."""
        return self.search.timings or None

    @property
    def error(self) -> Failure | None:
        """Return why the search failed; None if it did not."""
        return failure_of(self.search)


def for_objects(search: Search) -> bool:
    """Whether a search looks for tracked objects, not for events."""
    return bool(search.settings.get("mode") == OBJECTS)


def scores_of(search: Search) -> ScoreReport | None:
    """Return what the scores of a search mean; None while it has no results."""
    return ScoreReport(**search.scoring) if search.scoring else None


def empty_reason_of(search: Search) -> EmptyReason | None:
    """Return why a search found nothing; None if it found something, or has no outcome."""
    scores = scores_of(search)
    if scores is None or search.results:
        return None
    if scores.kept:
        return EmptyReason("results_deleted", "The videos that had the results were deleted.")
    if not scores.readable:
        return EmptyReason("nothing_indexed", "No video of the scope was indexed yet. Search again once one is.")
    if not scores.left_out:
        if for_objects(search):
            return EmptyReason("no_match", "No person, animal, vehicle or thing was tracked in the scope.")
        return EmptyReason("no_match", "Nothing in the scope has anything in common with the query.")
    noun = "object" if for_objects(search) else "event"
    found = f"{noun} was found, with a score" if scores.left_out == 1 else f"{noun}s were found, with scores"
    return EmptyReason(
        "below_min_score",
        f"{scores.left_out} {found} below {scores.min_score:g}, so nothing fits well. "
        "Lower min_score to see what comes nearest.",
        scores.best_left_out,
    )


def searches(*, status: str = "", video_id: UUID | None = None) -> QuerySet[Search]:
    """Return the searches of the entered tenant. status "" and video_id None restrict nothing."""
    rows: QuerySet[Search] = Search.objects.all()
    if status:
        rows = rows.filter(status=status)
    if video_id is not None:
        rows = rows.filter(id__in=SearchVideo.objects.filter(video_id=video_id).values("search_id"))
    return rows


def views_of(rows: Sequence[Search]) -> list[SearchView]:
    """Return the searches with their scopes, read in one statement."""
    videos: dict[UUID, dict[UUID, str]] = {row.id: {} for row in rows}
    scopes = SearchVideo.objects.filter(search_id__in=videos).order_by("video_id")
    for search_id, video_id, title in scopes.values_list("search_id", "video_id", "video__title"):
        videos[search_id][video_id] = title
    return [SearchView(row, tuple(videos[row.id]), videos[row.id]) for row in rows]


def view_of(search: Search) -> SearchView:
    """Return one search with its scope."""
    return views_of([search])[0]


def is_over(search_id: UUID) -> bool:
    """Whether a search has an outcome."""
    return Search.objects.filter(id=search_id).exclude(status__in=OPEN).exists()
