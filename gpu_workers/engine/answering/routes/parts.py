"""What a scope holds, as parts in order of time: its topics, and notes on the stretches that no topic covers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from uuid import UUID

from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import EventPlace
from gpu_workers.engine.retrieval.frames import all_places, evenly

LOOKED_AT = 12
"""Maximum number of a part's events, spread over it, among which its evidence is chosen."""

MOST_PARTS = 60
"""Maximum number of parts that are read one by one; of more, each video is one part, or neighbours are joined."""

TITLE_CHARACTERS = 160
TEXT_CHARACTERS = 600


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
    """parts: in order of video and time. about: the overview of each video that has one in scope. described: the events
    in order of video and time, without those that nobody could describe. read, total: number
    of events that topics or calls have read, of all in scope. lost: number of events that nobody could describe, which
    are in no part; lost_ms: their length in milliseconds."""

    parts: list[Part] = field(default_factory=list)
    about: dict[UUID, str] = field(default_factory=dict)
    described: list[UUID] = field(default_factory=list)
    read: int = 0
    total: int = 0
    topics: int = 0
    lost: int = 0
    lost_ms: int = 0
    halted: Halt | None = None


def read_topics(toolbox: Toolbox) -> tuple[Contents, list[list[EventPlace]]]:
    """Return the overviews and the topics of the toolbox's scope as parts, and the runs of events that no topic covers.

    Events that could not be described are left out. Two reads, however many videos there are.
    """
    graph = toolbox.asked.graph
    gaps = graph.undescribed()
    unknown = {place.event_id for place in gaps}
    places: dict[UUID, list[EventPlace]] = {}
    for place in all_places(graph):
        if place.event_id not in unknown:
            places.setdefault(place.video_id, []).append(place)
    contents = Contents(total=len(gaps) + sum(map(len, places.values())))
    contents.lost, contents.lost_ms = len(gaps), sum(place.span.duration_ms for place in gaps)
    overviews, topics = graph.overviews_of(list(places)), graph.topics_of(list(places))
    stretches: list[list[EventPlace]] = []
    contents.described = [place.event_id for own in places.values() for place in own]
    for video_id, own in places.items():
        if video_id in overviews:
            contents.about[video_id] = as_data(overviews[video_id].text)
        covered: set[UUID] = set()
        # Events of a video do not overlap, so their middles rise.
        middles = [(place.span.start_ms + place.span.end_ms) // 2 for place in own]
        for topic in topics.get(video_id, ()):
            inside = own[bisect_left(middles, topic.span.start_ms) : bisect_left(middles, topic.span.end_ms)]
            if not inside:
                continue
            covered |= {place.event_id for place in inside}
            contents.topics += 1
            contents.parts.append(
                Part(
                    video_id,
                    topic.span,
                    as_data(topic.title),
                    as_data(topic.summary),
                    tuple(place.event_id for place in few(inside, LOOKED_AT)),
                    tuple(map(as_data, topic.places)),
                )
            )
        stretches += _stretches(own, covered)
        contents.read += len(covered)
    return contents, stretches


def _stretches(places: Sequence[EventPlace], covered: set[UUID]) -> list[list[EventPlace]]:
    """Return the runs of events that no topic covers. A run ends where the scope leaves out what lies between."""
    runs: list[list[EventPlace]] = []
    before: EventPlace | None = None
    for place in places:
        if place.event_id not in covered:
            if before is not None and before.event_id not in covered and place.follows(before):
                runs[-1].append(place)
            else:
                runs.append([place])
        before = place
    return runs


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


def _of_video(own: Sequence[Part], overview: str) -> Part:
    joined = _joined(own)
    if not overview:
        return Part(joined.video_id, joined.span, joined.title, joined.text, joined.events, joined.places, video=True)
    first, _, rest = overview.partition(". ")
    title, text = brief(first, TITLE_CHARACTERS), brief(rest, TEXT_CHARACTERS)
    return Part(joined.video_id, joined.span, title, text, joined.events, joined.places, video=True)


def _joined(parts: Sequence[Part]) -> Part:
    """Return neighbouring parts as one that is named by their titles."""
    events = [event_id for part in parts for event_id in part.events]
    return Part(
        parts[0].video_id,
        Span(parts[0].span.start_ms, max(part.span.end_ms for part in parts)),
        brief("; ".join(dict.fromkeys(part.title.rstrip(".") for part in parts)), TITLE_CHARACTERS),
        "" if len(parts) > 1 else parts[0].text,
        tuple(events[index] for index in evenly(len(events), LOOKED_AT)),
        tuple(dict.fromkeys(place for part in parts for place in part.places)),
    )


def brief(text: str, most: int) -> str:
    """Return text with at most that many characters, cut after a word."""
    return text if len(text) <= most else f"{text[: most - 1].rsplit(' ', 1)[0].rstrip(' ;,')}…"


def few(places: Sequence[EventPlace], most: int) -> list[EventPlace]:
    """Return at most that many of places, evenly spread."""
    return [places[index] for index in evenly(len(places), most)]
