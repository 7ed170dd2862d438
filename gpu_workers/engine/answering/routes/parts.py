"""What a scope holds, as parts in order of time: its topics, and parts of the events that no topic covers."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeVar
from uuid import UUID

from gpu_workers.engine.answering.agent.statement_tools import separate_times
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Span, Topic
from gpu_workers.engine.languages.words import content_words
from gpu_workers.engine.ports import EventPlace, StoredEvent
from gpu_workers.engine.retrieval.frames import all_places, evenly

T = TypeVar("T")

LOOKED_AT = 12
"""Maximum number of a part's events, spread over it, among which its evidence is chosen."""

MOST_PARTS = 60
"""Maximum number of parts that are read one by one; of more, each video is one part, or neighbours are joined."""

TITLE_CHARACTERS = 160
TEXT_CHARACTERS = 600

SECTIONS, SECTIONS_SMALL = 40, 12
"""Number of parts that events without topics are divided into, if the reasoner reads them, and if it is small. A part
has LOOKED_AT events or more in the first case, so that the sentences of 480 events are read."""

REST_EVENTS = 30
"""Number of events that one part stands for if no model reads it and topics cover the rest of the scope."""

STEP_EVENTS = 24
"""Maximum number of events that are steps of an answer one by one."""

SECTION_EVENTS = 48
"""Maximum number of events of a part among which its most typical sentence is chosen if nothing else is shown of it."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of one video about one thing. events: at most LOOKED_AT of its events. places: where it is, in words.
    video: whether it stands for all that its video has in scope."""

    video_id: UUID
    span: Span
    title: str
    text: str
    events: tuple[UUID, ...]
    places: tuple[str, ...] = ()
    video: bool = False


@dataclass(slots=True)
class Contents:
    """parts: in order of video and time. about: the overview of each video that has one in scope. read, total: number
    of events that the parts stand for, of all in scope. lost: number of events that nobody could describe, which
    are in no part; lost_ms: their length in milliseconds."""

    parts: list[Part] = field(default_factory=list)
    about: dict[UUID, str] = field(default_factory=dict)
    read: int = 0
    total: int = 0
    topics: int = 0
    lost: int = 0
    lost_ms: int = 0


def read_contents(toolbox: Toolbox, *, small: bool) -> Contents:
    """Return the parts of the scope: overview, then topics, then the events that no topic covers. Steps of few
    events are these events: their topics would leave out what happens.

    small: whether no model will read them. Topics and overviews are two reads, however many videos there are.
    """
    graph = toolbox.asked.graph
    gaps = graph.undescribed()
    unknown = {place.event_id for place in gaps}
    places: dict[UUID, list[EventPlace]] = {}
    for place in all_places(graph):
        if place.event_id not in unknown:
            places.setdefault(place.video_id, []).append(place)
    described = [place.event_id for own in places.values() for place in own]
    contents = Contents(
        total=len(gaps) + len(described), lost=len(gaps), lost_ms=sum(place.span.duration_ms for place in gaps)
    )
    overviews, topics = graph.overviews_of(list(places)), graph.topics_of(list(places))
    contents.about = {video_id: as_data(overviews[video_id].text) for video_id in places if video_id in overviews}
    runs: list[list[UUID]] = []
    for video_id, own in places.items():
        parts, covered = _topic_parts(own, topics.get(video_id, ()))
        contents.parts += parts
        contents.topics += len(parts)
        contents.read += len(covered)
        runs += separate_times(own, frozenset(place.event_id for place in own) - covered)
    if toolbox.asked.understood.shape == "steps" and contents.topics < len(described) <= STEP_EVENTS:
        contents.parts = [_section([event]) for event in toolbox.load(described)]
        contents.read = len(contents.parts)
    elif runs:
        contents.parts += _sections(toolbox, runs, contents, small=small)
    contents.parts.sort(key=lambda part: (part.video_id, part.span))
    return contents


def _topic_parts(places: Sequence[EventPlace], topics: Sequence[Topic]) -> tuple[list[Part], set[UUID]]:
    """Return the topics of a video that have events in scope, and these events."""
    parts: list[Part] = []
    covered: set[UUID] = set()
    # Events of a video do not overlap, so their middles rise.
    middles = [(place.span.start_ms + place.span.end_ms) // 2 for place in places]
    for topic in topics:
        inside = places[bisect_left(middles, topic.span.start_ms) : bisect_left(middles, topic.span.end_ms)]
        if inside:
            covered |= {place.event_id for place in inside}
            events = tuple(place.event_id for place in few(inside, LOOKED_AT))
            title, text, where = as_data(topic.title), as_data(topic.summary), tuple(map(as_data, topic.places))
            parts.append(Part(inside[0].video_id, topic.span, title, text, events, where))
    return parts, covered


def _sections(toolbox: Toolbox, runs: Sequence[Sequence[UUID]], contents: Contents, *, small: bool) -> list[Part]:
    """Return the runs in parts of about equal length; each run has a part of its own, up to MOST_PARTS of them."""
    # Between topics a run is the rest of one that the scope cuts, and a title or two say enough of it.
    least = (REST_EVENTS if contents.topics else 1) if small else LOOKED_AT
    size = max(least, math.ceil(sum(map(len, runs)) / (SECTIONS_SMALL if small else SECTIONS)))
    parts: list[Part] = []
    for section in few([run[at : at + size] for run in runs for at in range(0, len(run), size)], MOST_PARTS):
        events = toolbox.load(few(section, SECTION_EVENTS if small else LOOKED_AT))
        parts += [_section(events)] if events else []
        contents.read += len(events)
    return parts


def _section(events: Sequence[StoredEvent]) -> Part:
    """Return events as one part, named by the sentence that shares most words with the others, which follow as text."""
    words = [content_words(event.summary) for event in events]
    common = Counter(word for own in words for word in own)
    shared = [sum(common[word] - 1 for word in own) / (1 + len(own)) for own in words]
    typical = events[shared.index(max(shared))]
    shown = [typical, *(event for event in few(events, LOOKED_AT) if event is not typical)]
    title, *others = (as_data(event.summary) for event in shown)
    return Part(
        typical.video_id,
        Span(events[0].span.start_ms, max(event.span.end_ms for event in events)),
        title[:TITLE_CHARACTERS].rstrip(" ."),
        brief(" ".join(others), TEXT_CHARACTERS),
        tuple(event.id for event in shown),
    )


# --- fewer parts ---------------------------------------------------------------------------------------------------


def bounded(parts: Sequence[Part], about: Mapping[UUID, str]) -> list[Part]:
    """Return the parts as they are if they are at most MOST_PARTS. Else each of several videos becomes one part, named
    by its overview or by the titles of its parts, and neighbours of a single video are joined.

    about: the overviews by video, empty if the parts are not all that the videos hold.
    """
    if len(parts) <= MOST_PARTS:
        return list(parts)
    by_video: dict[UUID, list[Part]] = {}
    for part in parts:
        by_video.setdefault(part.video_id, []).append(part)
    if len(by_video) > 1:
        return [_of_video(own, about.get(video_id, "")) for video_id, own in by_video.items()]
    ends = [len(parts) * n // MOST_PARTS for n in range(MOST_PARTS + 1)]
    return [_joined(parts[first:end]) for first, end in pairwise(ends)]


def _of_video(parts: Sequence[Part], overview: str) -> Part:
    joined = replace(_joined(parts), video=True)
    if not overview:
        return joined
    first, _, rest = overview.partition(". ")
    return replace(joined, title=brief(first, TITLE_CHARACTERS), text=brief(rest, TEXT_CHARACTERS))


def _joined(parts: Sequence[Part]) -> Part:
    """Return neighbouring parts as one that is named by their titles."""
    return Part(
        parts[0].video_id,
        Span(parts[0].span.start_ms, max(part.span.end_ms for part in parts)),
        brief("; ".join(dict.fromkeys(part.title.rstrip(".") for part in parts)), TITLE_CHARACTERS),
        "" if len(parts) > 1 else parts[0].text,
        tuple(few([event_id for part in parts for event_id in part.events], LOOKED_AT)),
        tuple(dict.fromkeys(place for part in parts for place in part.places)),
    )


def brief(text: str, most: int) -> str:
    """Return text with at most that many characters, cut after a word."""
    return text if len(text) <= most else f"{text[: most - 1].rsplit(' ', 1)[0].rstrip(' ;,')}…"


def few(items: Sequence[T], most: int) -> list[T]:
    """Return at most that many of items, evenly spread."""
    return [items[index] for index in evenly(len(items), most)]
