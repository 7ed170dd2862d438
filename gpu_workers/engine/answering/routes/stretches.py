"""Parts of the stretches that no topic covers: notes by the reasoner, or the most typical sentences of their events."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.context import LINE_TOKENS, event_text, fitted
from gpu_workers.engine.answering.contract import Effort
from gpu_workers.engine.answering.parsing import indices_of
from gpu_workers.engine.answering.routes.parts import (
    LOOKED_AT,
    MOST_PARTS,
    TEXT_CHARACTERS,
    TITLE_CHARACTERS,
    Contents,
    Part,
    few,
    read_topics,
)
from gpu_workers.engine.answering.scanning import numbered
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock_span
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.languages.words import content_words
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.models.served.structured import list_of, object_of, rows_of
from gpu_workers.engine.ports import EventPlace, StoredEvent
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.frames import evenly

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

STEP_EVENTS = 24
"""Maximum number of events that are steps of an answer one by one."""

SECTION_EVENTS = 48
"""Maximum number of events of a part among which its most typical sentence is chosen."""


def read_contents(toolbox: Toolbox, *, small: bool) -> Contents:
    """Return the parts of the scope: overview, then topics, then the events that no topic covers. Steps of few
    events are these events: their topics would leave out what happens.

    small: ask no model about events; sentences of the events stand for a stretch. Never raises Halt or ModelError.
    """
    contents, stretches = read_topics(toolbox)
    if toolbox.asked.understood.shape == "steps" and contents.topics < len(contents.described) <= STEP_EVENTS:
        contents.parts = [_section([event]) for event in toolbox.load(contents.described)]
        contents.read = len(contents.parts)
    elif stretches:
        contents.parts += _sections(toolbox, stretches, contents) if small else _notes(toolbox, stretches, contents)
    contents.parts.sort(key=lambda part: (part.video_id, part.span))
    return contents


# --- notes by the reasoner -----------------------------------------------------------------------------------------


def _notes(toolbox: Toolbox, stretches: Sequence[Sequence[EventPlace]], contents: Contents) -> list[Part]:
    """Return the parts that the reasoner makes of the stretches, batches of events in parallel; of a batch that failed,
    the sentences of its events."""
    most = MOST_NOTE_CALLS[toolbox.asked.settings.effort]
    places = [(number, place) for number, stretch in enumerate(stretches) for place in stretch]
    chosen = [places[index] for index in evenly(len(places), most * NOTE_EVENTS)]
    events = {event.id: event for event in toolbox.load(place.event_id for _, place in chosen)}
    of_stretch: dict[int, list[StoredEvent]] = {}
    for number, place in chosen:
        if place.event_id in events:
            of_stretch.setdefault(number, []).append(events[place.event_id])
    batches = [batch for own in of_stretch.values() for batch in _batches(toolbox, own)]
    batches = [batches[index] for index in evenly(len(batches), most)]
    results = toolbox.calls.together("whole", [partial(_noted, toolbox, batch) for batch in batches])
    parts: list[Part] = []
    for batch, (made, halt) in zip(batches, results, strict=True):
        contents.halted = contents.halted or halt
        parts += made or [_section(batch)]
        contents.read += len(batch)
    return parts


def _batches(toolbox: Toolbox, events: Sequence[StoredEvent]) -> list[list[StoredEvent]]:
    """Return the events in batches of at most NOTE_EVENTS that fit a quarter of the reasoner's window."""
    reasoner = toolbox.asked.models.reasoner
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


def _noted(toolbox: Toolbox, events: Sequence[StoredEvent]) -> tuple[list[Part], Halt | None]:
    asked = toolbox.asked
    count = asked.models.reasoner.count_tokens
    each = max(LINE_TOKENS, min(NOTE_TOKENS, asked.models.reasoner.context_tokens // 4) // len(events))
    lines = [f"{clock_span(event.span)}: {fitted(event_text(event), count, each)}" for event in events]
    prompt = load("whole_notes", asked.question.profile).substitute(events=numbered(lines), question=asked.own_words)
    part = object_of(
        {"title": {"type": "string"}, "text": {"type": "string"}, "events": list_of({"type": "integer"}, 40)}
    )
    try:
        sample = toolbox.calls.ask(
            [Message("user", (prompt,))],
            stage="whole",
            meter=toolbox.meter,
            schema=object_of({"parts": list_of(part, MOST_NOTES)}),
            max_tokens=NOTES_REPLY,
            seed=asked.seed_of("whole"),
        )[0]
    except Halt as halt:
        return [], halt
    except ModelError:
        return [], None
    return [made for row in rows_of(sample.text, "parts") if (made := _part(row, events))], None


def _part(row: object, events: Sequence[StoredEvent]) -> Part | None:
    """Return a part as a model wrote it; None if it names no event of its batch."""
    if not isinstance(row, Mapping):
        return None
    own = [events[index] for index in indices_of(row.get("events"), len(events))]
    title = as_data(str(row.get("title") or ""))[:TITLE_CHARACTERS]
    if not own or not title:
        return None
    text = as_data(str(row.get("text") or ""))[:TEXT_CHARACTERS]
    span = Span(min(event.span.start_ms for event in own), max(event.span.end_ms for event in own))
    spread = tuple(own[index].id for index in evenly(len(own), LOOKED_AT))
    return Part(own[0].video_id, span, title, text, spread)


# --- sentences of the events ---------------------------------------------------------------------------------------


def _sections(toolbox: Toolbox, stretches: Sequence[Sequence[EventPlace]], contents: Contents) -> list[Part]:
    """Return the stretches in at most SECTIONS parts of about equal length, each with its most typical sentence; each
    stretch has a part of its own, up to MOST_PARTS of them."""
    total = sum(map(len, stretches))
    # Between topics a stretch is the rest of one that the scope cuts, and a part or two say enough of it.
    size = max(REST_EVENTS if contents.topics else 1, math.ceil(total / SECTIONS))
    sections = [stretch[at : at + size] for stretch in stretches for at in range(0, len(stretch), size)]
    parts: list[Part] = []
    for index in evenly(len(sections), MOST_PARTS):
        events = toolbox.load(place.event_id for place in few(sections[index], SECTION_EVENTS))
        parts += [_section(events)] if events else []
        contents.read += len(events)
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
