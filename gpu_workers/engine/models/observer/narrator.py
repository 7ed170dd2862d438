"""The embedded narrator writes topics and overviews from counts and the events' own words, without a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Actor, EventDigest, Topic
from gpu_workers.engine.models.observer.sentences import listing
from gpu_workers.engine.models.roles import Meter, OverviewText, TopicText
from gpu_workers.engine.models.served.narration import (
    MOST_NAMES,
    NOT_DESCRIBED,
    PEOPLE,
    PLACE,
    SENTENCE_END,
    TEXT_CHARS,
    TITLE_CHARS,
    names_by_time,
)
from gpu_workers.engine.models.served.structured import clean

_WRITING = "text"
_TIMES = re.compile(r"\AFrom [\d:]+ to [\d:]+: ")


@dataclass(slots=True)
class _Seen:
    """One name over the events of a topic. at_once: maximum number of actors of that name in one event."""

    actor: Actor
    start_ms: int
    end_ms: int
    total_ms: int = 0
    at_once: int = 0


class MeasuredNarrator:
    """A roles.Narrator without a model: people by time seen, places, arrivals and departures, in the events' words.

    The same events always give the same text. It never fails, so it also replaces a model that fails.
    """

    name = "measured"
    looks = False

    def narrate_topic(
        self, events: Sequence[EventDigest], frames: Sequence[tuple[int, bytes]] = (), *, profile: str, meter: Meter
    ) -> TopicText:
        described = [event for event in events if event.described]
        start_ms, end_ms = events[0].span.start_ms, events[-1].span.end_ms
        sentences = [f"{clock(start_ms)} to {clock(end_ms)}, {_some(len(events), 'event')}."]
        seen = _seen(described)
        acting = [s for s in seen if s.actor.type not in {PLACE, _WRITING}]
        places = [s.actor.name for s in seen if s.actor.type == PLACE]
        writing = [s.actor.name for s in seen if s.actor.type == _WRITING]
        if acting:
            sentences.append(f"Seen longest: {listing([_lasting(s) for s in acting[:5]])}.")
        if places:
            sentences.append(f"Place: {listing(places[:2])}.")
        if writing:
            sentences.append(f"On-screen text: {listing(_quoted(writing[:4]))}.")
        sentences += _changes(acting[:8], start_ms, end_ms)
        if described:
            opening, closing = _opening_words(described[0].summary), _opening_words(described[-1].summary)
            sentences.append(f"At {clock(described[0].span.start_ms)}: {opening}")
            if len(described) > 1 and closing != opening:
                sentences.append(f"At {clock(described[-1].span.start_ms)}: {closing}")
        for gap in [event for event in events if not event.described][:3]:
            sentences.append(f"{clock(gap.span.start_ms)} to {clock(gap.span.end_ms)} could not be described.")
        people = [s.actor.name for s in acting if s.actor.type in PEOPLE]
        return TopicText(
            _title(acting, places, described),
            " ".join(sentences)[:TEXT_CHARS],
            tuple(people[:MOST_NAMES]),
            tuple(places[:MOST_NAMES]),
        )

    def narrate_overview(self, topics: Sequence[Topic], *, profile: str, meter: Meter) -> OverviewText:
        people, places = names_by_time(topics)
        sentences = [f"{clock(topics[-1].span.end_ms)} of video in {_some(len(topics), 'topic')}."]
        if people:
            sentences.append(f"People: {listing(people[:5])}.")
        if places:
            sentences.append(f"Places: {listing(places[:5])}.")
        for group in _groups(topics, 12):
            longest = max(group, key=lambda topic: topic.span.duration_ms)
            rest = f" (and {_some(len(group) - 1, 'more topic')})" if len(group) > 1 else ""
            span = f"{clock(group[0].span.start_ms)} to {clock(group[-1].span.end_ms)}"
            sentences.append(f"{span}: {longest.title}{rest}.")
        return OverviewText(" ".join(sentences)[:TEXT_CHARS], tuple(people[:MOST_NAMES]), tuple(places[:MOST_NAMES]))


def _groups(topics: Sequence[Topic], most: int) -> list[Sequence[Topic]]:
    """Return topics in at most `most` runs of nearly equal size."""
    count = min(most, len(topics))
    edges = [k * len(topics) // count for k in range(count + 1)]
    return [topics[a:b] for a, b in pairwise(edges)]


def _seen(events: Sequence[EventDigest]) -> list[_Seen]:
    """Return every name of the events, seen longest first; ties in order of appearance."""
    by_name: dict[tuple[str, str], _Seen] = {}
    for event in events:
        counts = Counter((plain, actor.type) for plain, actor in zip(_plain(event.actors), event.actors, strict=True))
        for (name, kind), count in counts.items():
            seen = by_name.setdefault(
                (name.casefold(), kind), _Seen(Actor(name, kind), event.span.start_ms, event.span.end_ms)
            )
            seen.end_ms = event.span.end_ms
            seen.total_ms += event.span.duration_ms
            seen.at_once = max(seen.at_once, count)
    return sorted(by_name.values(), key=lambda seen: -seen.total_ms)


def _plain(actors: Sequence[Actor]) -> list[str]:
    """Return names without the number that only distinguishes those of one event ("person in black 2")."""
    bare = [re.sub(r" \d+\Z", "", actor.name) for actor in actors]
    shared = Counter(bare)
    return [short if shared[short] > 1 else actor.name for short, actor in zip(bare, actors, strict=True)]


def _some(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _quoted(texts: Sequence[str]) -> list[str]:
    return [f'"{text}"' for text in texts]


def _lasting(seen: _Seen) -> str:
    several = f", {seen.at_once} in one event" if seen.at_once > 1 else ""
    return f"{seen.actor.name} (in events of {seen.total_ms // 1000} s{several})"


def _changes(acting: Sequence[_Seen], start_ms: int, end_ms: int) -> list[str]:
    """Return sentences on who is first named later than the beginning, and who is not named at the end."""
    later = sorted((s for s in acting if s.start_ms > start_ms), key=lambda s: s.start_ms)[:3]
    gone = sorted((s for s in acting if s.end_ms < end_ms), key=lambda s: s.end_ms)[:3]
    sentences = []
    if later:
        sentences.append(f"New: {listing([f'{s.actor.name} from {clock(s.start_ms)}' for s in later])}.")
    if gone:
        sentences.append(f"Last seen: {listing([f'{s.actor.name} before {clock(s.end_ms)}' for s in gone])}.")
    return sentences


def _title(acting: Sequence[_Seen], places: Sequence[str], described: Sequence[EventDigest]) -> str:
    if not described:
        return NOT_DESCRIBED
    if not acting:
        return " ".join(_opening_words(described[0].summary).split()[:10]).rstrip(".,;:")[:TITLE_CHARS] or "Untitled"
    text = listing([seen.actor.name for seen in acting[:3]]) + (f" ({places[0]})" if places else "")
    return f"{text[0].upper()}{text[1:]}"[:TITLE_CHARS]


def _opening_words(summary: str) -> str:
    """Return the first sentences of an event's text, without its times; at most 240 characters of whole sentences."""
    sentences = SENTENCE_END.split(_TIMES.sub("", clean(summary)))
    opening = sentences[0]
    for sentence in sentences[1:]:
        if len(opening) + 1 + len(sentence) > 240:
            break
        opening = f"{opening} {sentence}"
    opening = opening[:400]
    return opening if opening.endswith((".", "!", "?", '"')) else f"{opening}."
