"""What a scope holds, as parts in order of time: its topics, and notes on the stretches that no topic covers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.context import LINE_TOKENS, cut, event_text
from gpu_workers.engine.answering.contract import Effort
from gpu_workers.engine.answering.judging import numbered
from gpu_workers.engine.answering.tools.desk import Desk
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.answering.words import content_words
from gpu_workers.engine.clock_text import clock_span
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.models.served.json_text import read_object, salvaged
from gpu_workers.engine.models.served.structured import list_of, object_of
from gpu_workers.engine.ports import EventPlace, StoredEvent
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.frames import all_places, evenly

MOST_NOTE_CALLS: Mapping[Effort, int] = {"low": 4, "medium": 16, "high": 64, "paper": 16}
"""Maximum number of calls that read events which no topic covers; of more events, evenly spread ones are read."""

NOTE_EVENTS = 40
"""Maximum number of events that one call reads."""

NOTE_TOKENS = 4_000
"""Maximum tokens of the events that one call reads."""

NOTES_REPLY = 600
MOST_NOTES = 8
"""Maximum tokens, and maximum number of parts, that one call writes."""

SECTIONS = 12
"""Number of parts that a stretch without topics is divided into where no model reads it."""

REST_EVENTS = 30
"""Number of events that one part stands for where topics cover the rest of the scope."""

LOOKED_AT = 12
"""Number of a part's events of which the one is chosen that says most of it."""

TITLE_CHARACTERS = 160
TEXT_CHARACTERS = 600


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of one video about one thing. events: those it rests on, best first."""

    video_id: UUID
    span: Span
    title: str
    text: str
    events: tuple[UUID, ...]


@dataclass(slots=True)
class Contents:
    """parts: in order of video and time. about: the overview of each video that has one in scope. read, total: number
    of events that topics or calls have read, of all in scope."""

    parts: list[Part] = field(default_factory=list)
    about: dict[UUID, str] = field(default_factory=dict)
    read: int = 0
    total: int = 0
    topics: int = 0
    halted: Halt | None = None


def read_contents(desk: Desk, *, small: bool) -> Contents:
    """Return the parts of the desk's scope: overview, then topics, then the events that no topic covers.

    small: ask no model about events; sentences of the events stand for a stretch. Never raises Halt or ModelError.
    """
    graph = desk.asked.graph
    places: dict[UUID, list[EventPlace]] = {}
    for place in all_places(graph):
        places.setdefault(place.video_id, []).append(place)
    contents = Contents(total=sum(map(len, places.values())))
    topics: list[tuple[UUID, Span, str, str, list[EventPlace]]] = []
    gaps: list[list[EventPlace]] = []
    for video_id, own in places.items():
        overview = graph.overview(video_id)
        if overview is not None:
            contents.about[video_id] = as_data(overview.text)
        covered: set[UUID] = set()
        for topic in graph.topics(video_id):
            inside = [
                place for place in own if topic.span.holds(place.span) or topic.span.contains(_middle(place.span))
            ]
            covered |= {place.event_id for place in inside}
            topics.append((video_id, topic.span, as_data(topic.title), as_data(topic.summary), inside))
        gaps += _stretches(own, covered)
        contents.read += len(covered)
    contents.topics = len(topics)
    looked = [place.event_id for *_, inside in topics for place in _few(inside, LOOKED_AT)]
    events = {event.id: event for at in range(0, len(looked), 512) for event in desk.load(looked[at : at + 512])}
    for video_id, span, title, text, inside in topics:
        chosen = [events[place.event_id] for place in _few(inside, LOOKED_AT) if place.event_id in events]
        contents.parts.append(Part(video_id, span, title, text, _best(f"{title} {text}", chosen)))
    if gaps:
        contents.parts += _sections(desk, gaps, contents) if small else _notes(desk, gaps, contents)
    contents.parts.sort(key=lambda part: (part.video_id, part.span))
    return contents


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


# --- notes by the reasoner -----------------------------------------------------------------------------------------


def _notes(desk: Desk, gaps: Sequence[Sequence[EventPlace]], contents: Contents) -> list[Part]:
    """Return the parts that the reasoner makes of the stretches, batches of events in parallel; of a batch that failed,
    the sentences of its events."""
    batches: list[list[StoredEvent]] = []
    most = MOST_NOTE_CALLS[desk.asked.settings.effort]
    share = min(1.0, most * NOTE_EVENTS / max(1, sum(map(len, gaps))))
    for gap in gaps:
        chosen = _few(gap, max(1, math.ceil(share * len(gap))))
        events = desk.load(place.event_id for place in chosen)
        batches += _batches(desk, events)
    batches = [batches[index] for index in evenly(len(batches), most)]
    results = desk.calls.together("whole", [partial(_noted, desk, batch) for batch in batches])
    parts: list[Part] = []
    for batch, (made, halt) in zip(batches, results, strict=True):
        contents.halted = contents.halted or halt
        parts += made or [_section(batch)]
        contents.read += len(batch)
    return parts


def _batches(desk: Desk, events: Sequence[StoredEvent]) -> list[list[StoredEvent]]:
    """Return the events in batches of at most NOTE_EVENTS that fit a quarter of the reasoner's window."""
    reasoner = desk.asked.models.reasoner
    room, count = min(NOTE_TOKENS, reasoner.context_tokens // 4), reasoner.count_tokens
    batches: list[list[StoredEvent]] = []
    used = room
    for event in events:
        cost = min(room, count(event_text(event)) + LINE_TOKENS)
        if used + cost > room or len(batches[-1]) >= NOTE_EVENTS:
            batches.append([])
            used = 0
        batches[-1].append(event)
        used += cost
    return batches


def _noted(desk: Desk, events: Sequence[StoredEvent]) -> tuple[list[Part], Halt | None]:
    asked = desk.asked
    count = asked.models.reasoner.count_tokens
    each = max(LINE_TOKENS, min(NOTE_TOKENS, asked.models.reasoner.context_tokens // 4) // len(events))
    lines = [f"{clock_span(event.span)}: {_fit(event_text(event), count, each)}" for event in events]
    prompt = load("whole_notes", asked.question.profile).substitute(events=numbered(lines), question=asked.own_words)
    part = object_of(
        {"title": {"type": "string"}, "text": {"type": "string"}, "events": list_of({"type": "integer"}, 40)}
    )
    try:
        sample = desk.calls.ask(
            [Message("user", (prompt,))],
            stage="whole",
            meter=desk.meter,
            schema=object_of({"parts": list_of(part, MOST_NOTES)}),
            max_tokens=NOTES_REPLY,
            seed=asked.seed_of("whole"),
        )[0]
    except Halt as halt:
        return [], halt
    except ModelError:
        return [], None
    fields = read_object(sample.text) or salvaged(sample.text) or {}
    rows = fields.get("parts")
    return [made for row in (rows if isinstance(rows, list) else ()) if (made := _part(row, events))], None


def _part(row: object, events: Sequence[StoredEvent]) -> Part | None:
    """Return a part as a model wrote it; None if it names no event of its batch."""
    if not isinstance(row, Mapping):
        return None
    numbers = row.get("events")
    named = [n for n in (numbers if isinstance(numbers, list) else ()) if isinstance(n, int) and 1 <= n <= len(events)]
    title = as_data(str(row.get("title") or ""))[:TITLE_CHARACTERS]
    if not named or not title:
        return None
    own = [events[n - 1] for n in dict.fromkeys(named)]
    text = as_data(str(row.get("text") or ""))[:TEXT_CHARACTERS]
    span = Span(min(event.span.start_ms for event in own), max(event.span.end_ms for event in own))
    return Part(own[0].video_id, span, title, text, _best(f"{title} {text}", own))


# --- sentences of the events ---------------------------------------------------------------------------------------


def _sections(desk: Desk, gaps: Sequence[Sequence[EventPlace]], contents: Contents) -> list[Part]:
    """Return the stretches in at most SECTIONS parts of about equal length, each with its most typical sentence."""
    total = sum(map(len, gaps))
    # Between topics a stretch is the rest of one that the scope cuts, and a part or two say enough of it.
    size = max(REST_EVENTS if contents.topics else 1, math.ceil(total / SECTIONS))
    parts = []
    for gap in gaps:
        for at in range(0, len(gap), size):
            places = gap[at : at + size]
            parts.append(_section(desk.load(place.event_id for place in _few(places, 4 * LOOKED_AT))))
            contents.read += min(len(places), 4 * LOOKED_AT)
    return parts


def _section(events: Sequence[StoredEvent]) -> Part:
    """Return events as one part, named by the sentence that shares most words with the others."""
    words = [content_words(event.summary) for event in events]
    common = Counter(word for own in words for word in own)
    typical = max(
        range(len(events)),
        key=lambda index: (sum(common[word] - 1 for word in words[index]) / (1 + len(words[index])), -index),
    )
    event = events[typical]
    span = Span(events[0].span.start_ms, max(event.span.end_ms for event in events))
    title = as_data(event.summary)[:TITLE_CHARACTERS].rstrip(" .")
    return Part(event.video_id, span, title, "", (event.id,))


def _best(words: str, events: Sequence[StoredEvent]) -> tuple[UUID, ...]:
    """Return the event that shares most words with a part's; the first of equals."""
    wanted = content_words(words)
    best = max(events, key=lambda event: len(wanted & content_words(event.summary)), default=None)
    return (best.id,) if best is not None else ()


def _few(places: Sequence[EventPlace], most: int) -> list[EventPlace]:
    return [places[index] for index in evenly(len(places), most)]


def _fit(text: str, count: Callable[[str], int], most: int) -> str:
    return text if count(text) <= most else cut(text, count, most)


def _middle(span: Span) -> int:
    return (span.start_ms + span.end_ms) // 2
