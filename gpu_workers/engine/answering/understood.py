"""What was understood from a question's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args
from uuid import UUID

from gpu_workers.engine.ekg import Span

Route = Literal["search", "time", "whole", "scan", "objects"]
"""How a question is answered. search: from the events nearest to it. time: from what a stretch of time holds. whole:
from the overview, the topics and all events of a stretch. scan: by judging a statement over every event. objects: by
counting tracked things."""

ROUTES: tuple[Route, ...] = get_args(Route)

COSTLY: frozenset[Route] = frozenset({"scan", "objects"})
"""Routes that judge events one by one, up to hundreds of calls: `objects` does where there is no object memory."""

Shape = Literal["sentence", "list", "steps", "table", "count", "summary"]
"""Form of the text that a question asks for."""

ChosenBy = Literal["caller", "examples", "figures", "model", "default"]
"""What read a part of the question: the caller named it; labelled examples (reading.nearest); the parser of times in
figures (reading.times); a call of the reasoner (reading.call); or nothing, so that the default stands."""

Polarity = Literal["occurs", "never", "always"]
"""What is asked about a statement: where it is true, whether it never is, or whether it is all the time."""

Counting = Literal["total", "at_once", "entered", "left", "both", "entries", "exits"]
"""Which number of tracked things is asked for. both: how many entered, and how many left."""

Comparison = Literal["none", "each", "most", "fewest", "videos"]
"""What is asked of several videos. each, most, fewest: a number of each of them, in their order or sorted. videos:
something else about each of them."""

Said = Literal["none", "said", "mentioned"]
"""Whether a statement is about words: spoken words, or words that are spoken or written."""

Subject = Literal["content", "length", "filmed"]
"""What a question is about: the content of the videos, their length, or when they were filmed."""


@dataclass(frozen=True, slots=True)
class SearchWords:
    """A question as searches of the three views, in the language of the index. Empty: the question's own words."""

    events: str = ""
    entity: str = ""
    scene: str = ""


@dataclass(frozen=True, slots=True)
class Stretch:
    """One of the times that a question names. spans: by video, in order of time; more than one where the recording
    shows this time in several places. meaning: in plain English."""

    meaning: str
    spans: Mapping[UUID, tuple[Span, ...]]


@dataclass(frozen=True, slots=True)
class UnderstoodTime:
    """The time that a question names.

    words: the part of the question that names it. meaning: the same in plain English with the resolved times, for the
    reader. spans: by video, the shortest span that holds the whole time; a video that is missing has nothing at that
    time. Empty: the named time lies outside every video. stretches: the times one by one if there are several, or if
    one has several spans in a video; only what is in them is read. order: where the time lies from an anchor, ""
    without one. anchor: the words of the event that the order refers to.
    """

    words: str
    meaning: str
    spans: Mapping[UUID, Span] = field(default_factory=dict)
    order: Literal["", "after", "before", "during", "between"] = ""
    anchor: str = ""
    chosen_by: ChosenBy = "figures"
    stretches: tuple[Stretch, ...] = ()

    def read_spans(self) -> Mapping[UUID, tuple[Span, ...]]:
        """Return by video the spans to which all reads are narrowed, in order of time, disjoint."""
        if not self.stretches:
            return {video_id: (span,) for video_id, span in self.spans.items()}
        videos = sorted({video_id for stretch in self.stretches for video_id in stretch.spans})
        return {
            video_id: tuple(sorted(span for stretch in self.stretches for span in stretch.spans.get(video_id, ())))
            for video_id in videos
        }


@dataclass(frozen=True, slots=True)
class Understood:
    """What was understood from a question's words. Whatever comes after the reading uses these fields, never the words.

    sure: whether the route was read with confidence; a costly route that is not sure is not taken. doubted: the costly
    route that was read without it, "" if there is none. language: ISO 639-1 code of the answer, "" if unknown.
    searched: the question's words for retrieval, without the time and in the language of the index, "" if they are the
    question's own. words: the same for each view, if the reasoner wrote them. quoted: words that must be found exactly.
    videos: those that the question names, in order of id, to which all reads are narrowed; empty: it names none.
    statement: for routes scan and objects, what is judged over every event, in the language of the index. said: whether
    it is about words, which are in exact. counted: the things whose number is asked. topic: stems to which a question
    about the whole is narrowed; empty: it is about all of it.
    """

    route: Route = "search"
    chosen_by: ChosenBy = "default"
    sure: bool = True
    doubted: Route | Literal[""] = ""
    shape: Shape = "sentence"
    language: str = ""
    time: UnderstoodTime | None = None
    searched: str = ""
    words: SearchWords = SearchWords()
    quoted: tuple[str, ...] = ()
    videos: tuple[UUID, ...] = ()
    statement: str = ""
    polarity: Polarity = "occurs"
    said: Said = "none"
    exact: str = ""
    counted: str = ""
    counting: Counting = "total"
    comparison: Comparison = "none"
    topic: tuple[str, ...] = ()
    subject: Subject = "content"

    def record(self) -> dict[str, Any]:
        """Return it as JSON-serialisable values, for Answer.understood and the trace."""
        time = self.time
        return {
            "route": self.route,
            "chosen_by": self.chosen_by,
            "sure": self.sure,
            "shape": self.shape,
            "language": self.language,
            "searched": self.searched,
            "quoted": list(self.quoted),
            "videos": [str(video_id) for video_id in self.videos],
            "statement": self.statement,
            "polarity": self.polarity,
            "counted": self.counted,
            "counting": self.counting,
            "comparison": self.comparison,
            "time": None
            if time is None
            else {
                "words": time.words,
                "meaning": time.meaning,
                "order": time.order,
                "anchor": time.anchor,
                "chosen_by": time.chosen_by,
                "spans": [
                    {"video_id": str(video_id), "start_ms": span.start_ms, "end_ms": span.end_ms}
                    for video_id, spans in sorted(time.read_spans().items())
                    for span in spans
                ],
            },
        }
