"""The events of a node as a model reads them: in time order, numbered, within a token budget."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from uuid import UUID

from gpu_workers.engine.answering.wording import as_data, title_lines
from gpu_workers.engine.clock_text import clock_span
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import EntityFact, StoredEvent
from gpu_workers.engine.retrieval.facts import best_facts
from gpu_workers.engine.wall_clock import WallClock

MAX_FACTS = 6
"""Maximum number of facts per event: more of them push events out of the prompt."""

LEAST_RELATIONS = 2
"""Number of these facts that are relations, if the event states as many and has enough participants for all facts."""

TITLES_SHARE = 0.3
"""Maximum share of a context's tokens that the titles of its videos take; else the lines have numbers alone."""

LINE_TOKENS = 24
"""Tokens of a line that are not the event's own words: its number, its video's and its times."""


@dataclass(frozen=True, slots=True)
class EventContext:
    """text: the lines of the prompt. numbers: event by its n in "E<n>". events: the events shown, by the same n."""

    text: str
    numbers: Mapping[UUID, int]
    events: Mapping[int, StoredEvent]


@dataclass(frozen=True, slots=True)
class EventLabels:
    """What stands before an event's words on its line.

    stamp: formats the time of an event. numbers: n of each event's "E<n>"; None counts from 1 in order of time. videos:
    numbers of the videos in scope; None counts those that are shown. clocks: by video; a line says when its event was
    filmed, if known. titles: of the videos, if there are several in scope; they come first, a line each, and count
    towards the tokens of the context. They are left out if they take more than TITLES_SHARE of it.
    """

    stamp: Callable[[Span], str] = clock_span
    numbers: Mapping[UUID, int] | None = None
    videos: Mapping[UUID, int] | None = None
    clocks: Mapping[UUID, WallClock] = field(default_factory=dict)
    titles: Mapping[UUID, str] = field(default_factory=dict)


def event_context(
    ranking: Sequence[UUID],
    events: Mapping[UUID, StoredEvent],
    facts: Sequence[EntityFact],
    *,
    count_tokens: Callable[[str], int],
    max_tokens: int,
    all_in_brief: bool = False,
    least: int = 0,
    labels: EventLabels = EventLabels(),
) -> EventContext:
    """Return the events as lines of a prompt, in order of time, within max_tokens.

    ranking: event ids, best first; ids missing in events are left out.

    Drops the lowest ranked events until the rest fits max_tokens, but never the best one: it is cut short instead.
    all_in_brief: an event that is too long for an equal part of max_tokens is cut to it, so that more events fit.
    least: if fewer events fit, this many are shown (or all, if there are fewer), each cut to its share of max_tokens.
    """
    titles, videos, numbers = labels.titles, labels.videos, labels.numbers
    part = max(1, max_tokens // max(1, len(ranking)) - LINE_TOKENS)
    by_event: dict[UUID, list[EntityFact]] = {}
    for fact in facts:
        by_event.setdefault(fact.event_id, []).append(fact)
    known = [events[event_id] for event_id in ranking if event_id in events]
    several_videos = bool(titles) or len(videos or {event.video_id for event in known}) > 1
    heading_tokens = count_tokens(_heading(known, videos, titles)) if titles else 0
    if heading_tokens > TITLES_SHARE * max_tokens:
        titles, heading_tokens = {}, 0
    max_tokens -= heading_tokens
    texts: list[str] = []
    for event in known:
        body = event_text(event, by_event.get(event.id, ()))
        if all_in_brief and count_tokens(body) > part:
            body = cut(body, count_tokens, part)
        texts.append(body)
    filmed = [filmed_at(event, labels.clocks) for event in known]
    costs = [
        count_tokens(f"E99 video 99 00:00:00-00:00:00{at} {body}\n") for at, body in zip(filmed, texts, strict=True)
    ]
    fitting = bisect_right(list(accumulate(costs)), max_tokens)
    if fitting < min(least, len(known)):
        fitting, texts = _in_shares(texts, costs, count_tokens, max_tokens, least)
    if not fitting and known:
        fitting, texts = 1, [cut(texts[0], count_tokens, max_tokens)]
    shown = known[:fitting]
    bodies = {event.id: body for event, body in zip(shown, texts, strict=False)}
    videos = videos or _video_numbers(shown)
    heading = _heading(shown, videos, titles)
    at_of = {event.id: at for event, at in zip(known, filmed, strict=True)}
    context = _numbered(shown, bodies, numbers, videos if several_videos else {}, labels.stamp, at_of)
    return replace(context, text=f"{heading}{context.text}")


def _video_numbers(events: Sequence[StoredEvent]) -> dict[UUID, int]:
    return {video_id: n for n, video_id in enumerate(sorted({event.video_id for event in events}), start=1)}


def _heading(events: Sequence[StoredEvent], videos: Mapping[UUID, int] | None, titles: Mapping[UUID, str]) -> str:
    """Return the lines with the titles of the events' videos."""
    return title_lines(videos or _video_numbers(events), titles, {event.video_id for event in events})


def filmed_at(event: StoredEvent, clocks: Mapping[UUID, WallClock]) -> str:
    """Return when an event began by the wall clock, for its line; "" where that is unknown."""
    clock = clocks.get(event.video_id)
    moment = clock.at(event.span.start_ms) if clock is not None else None
    if clock is None or moment is None:
        return ""
    return f" ({moment:%Y-%m-%d %H:%M:%S})" if clock.dated else f" ({moment:%H:%M:%S})"


def event_text(event: StoredEvent, facts: Sequence[EntityFact] = ()) -> str:
    """Return one event in words, on a line: summary, speech, writing on screen, facts of the graph.

    Speech and writing that the summary repeats stand in the summary alone.
    """
    summary = as_data(event.summary)
    folded = summary.casefold()
    spoken = _not_in(folded, (line.text for chunk in event.chunks for line in chunk.transcript))
    written = _not_in(folded, (text for chunk in event.chunks for text in chunk.on_screen_text))
    parts = [summary]
    if spoken:
        parts.append(f'Speech: "{" ".join(spoken)}"')
    if written:
        parts.append(f'On screen: "{"; ".join(written)}"')
    if facts:
        stated = best_facts(facts, limit=MAX_FACTS, relations=LEAST_RELATIONS)
        parts.append(f"Facts: {as_data('; '.join(dict.fromkeys(fact.text for fact in stated)))}")
    return " ".join(parts)


def _not_in(summary: str, texts: Iterable[str]) -> list[str]:
    """Return the texts as data, each once, without those that the folded summary contains as whole words."""
    pieces = dict.fromkeys(map(as_data, texts))
    return [text for text in pieces if not re.search(rf"(?<!\w){re.escape(text.casefold())}(?!\w)", summary)]


def _numbered(
    shown: Sequence[StoredEvent],
    bodies: Mapping[UUID, str],
    numbers: Mapping[UUID, int] | None,
    videos: Mapping[UUID, int],
    stamp: Callable[[Span], str],
    filmed: Mapping[UUID, str],
) -> EventContext:
    """Return the events in order of time. videos: by id; empty if lines name no video. filmed: filmed_at() by event."""
    ordered = sorted(shown, key=lambda event: (event.video_id, event.span, event.id))
    number_of = {
        event.id: numbers[event.id] if numbers is not None else place for place, event in enumerate(ordered, start=1)
    }
    lines = []
    for event in ordered:
        video = f" video {videos[event.video_id]}" if videos else ""
        lines.append(f"E{number_of[event.id]}{video} {stamp(event.span)}{filmed[event.id]}: {bodies[event.id]}")
    return EventContext("\n".join(lines), number_of, {number_of[event.id]: event for event in ordered})


def shares(costs: Sequence[int], room: int) -> list[int]:
    """Return the tokens that each item gets of room: all it costs, or, of those that cost more, an equal share of what
    the others leave."""
    given = [0] * len(costs)
    left = room
    for waiting, index in enumerate(sorted(range(len(costs)), key=lambda index: costs[index])):
        given[index] = min(costs[index], left // (len(costs) - waiting))
        left -= given[index]
    return given


def _in_shares(
    texts: Sequence[str], costs: Sequence[int], count_tokens: Callable[[str], int], room: int, least: int
) -> tuple[int, list[str]]:
    """Return how many of the texts are shown, at most least, and these cut to their shares of room."""
    count = min(least, len(texts), room // (2 * LINE_TOKENS))
    given = shares(costs[:count], room)
    return count, [
        body if cost <= tokens else cut(body, count_tokens, tokens - LINE_TOKENS)
        for body, cost, tokens in zip(texts, costs, given, strict=False)
    ]


def fitted(text: str, count_tokens: Callable[[str], int], max_tokens: int) -> str:
    """Return text as it is if it is within max_tokens, else its first words."""
    return text if count_tokens(text) <= max_tokens else cut(text, count_tokens, max_tokens)


def cut(text: str, count_tokens: Callable[[str], int], max_tokens: int) -> str:
    """Return the first words of text within max_tokens; at least one word."""
    words = text.split()
    low, high = 1, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(" ".join(words[:middle])) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return " ".join(words[:low])


def cut_lines(text: str, count_tokens: Callable[[str], int], most: int) -> str:
    """Return the first lines of text that fit into most tokens, at least a part of the first one; "…" says that there
    were more."""
    if not text or count_tokens(text) <= most:
        return text
    kept: list[str] = []
    for line in text.splitlines():
        if count_tokens("\n".join([*kept, line, "…"])) > most:
            break
        kept.append(line)
    if not kept:
        first = text.splitlines()[0]
        while len(first) > 1 and count_tokens(f"{first}\n…") > most:
            first = first[: len(first) * 3 // 4]
        kept = [first]
    return "\n".join([*kept, "…"])
