"""Narrators: many events as one topic's text, many topics as one overview (AVATAAR's global context).

LlmNarrator asks a chat model in requests that fit its window; MeasuredNarrator counts and quotes what the events say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

from gpu_workers.engine.ekg import Actor, EventDigest, Topic
from gpu_workers.engine.models.observer.sentences import listing
from gpu_workers.engine.models.pictures import clock
from gpu_workers.engine.models.roles import ChatModel, Message, Meter, ModelError, OverviewText, TopicText
from gpu_workers.engine.models.served.structured import ask_object, clean
from gpu_workers.engine.prompts import load

Text = TypeVar("Text", TopicText, OverviewText)

TITLE_CHARS, TEXT_CHARS = 120, 2_000
NOT_DESCRIBED = "Not described"
"""The title of a topic of which nothing is known."""
MOST_NAMES = 12
"""Names of people, and of places, that one text lists."""
_MARGIN = 128
"""Tokens of a request beside its texts: roles, separators, a word about a fault."""
_PEOPLE, _PLACE, _WRITING = frozenset({"person", "group"}), "place", "text"
_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_WITHIN = re.compile(r"(?<=[\w,;)'’])\s+([A-Z][a-z]\w*)")
_TIMES = re.compile(r"\AFrom [\d:]+ to [\d:]+: ")


class Said:
    """The words of some material: what decides whether a name in a text about it was invented."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._words = _in_words(" ".join(texts))

    def holds(self, name: str) -> bool:
        words = _in_words(name)
        return bool(words.strip()) and words in self._words

    def kept(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the names that the material holds, each once, at most MOST_NAMES."""
        distinct: dict[str, str] = {}
        for name in filter(self.holds, names):
            distinct.setdefault(name.casefold(), name)
        return tuple(distinct.values())[:MOST_NAMES]

    def without_strangers(self, text: str) -> str:
        """text without the sentences that use a proper name (a capitalised word inside a sentence) from elsewhere."""
        sentences = _SENTENCE_END.split(text)
        return " ".join(s for s in sentences if all(self.holds(name) for name in _WITHIN.findall(s)))


def _in_words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def said_by_events(events: Sequence[EventDigest]) -> Said:
    return Said(text for event in events for text in (event.summary, *(actor.name for actor in event.actors)))


def said_by_topics(topics: Sequence[Topic]) -> Said:
    return Said(text for t in topics for text in (t.title, t.summary, *t.people, *t.places))


# --- measured -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Seen:
    """One name over the events of a topic. at_once: most actors of that name in one event."""

    actor: Actor
    start_ms: int
    end_ms: int
    total_ms: int = 0
    at_once: int = 0


class MeasuredNarrator:
    """A roles.Narrator without a model: who is seen for how long, where, what comes and goes, in the events' words.

    The same events always give the same text. It never fails, so it also speaks where a model cannot.
    """

    name = "measured"

    def tell_topic(self, events: Sequence[EventDigest], *, profile: str, meter: Meter) -> TopicText:
        described = [event for event in events if event.described]
        start_ms, end_ms = events[0].span.start_ms, events[-1].span.end_ms
        sentences = [f"{clock(start_ms)} to {clock(end_ms)}, {_some(len(events), 'event')}."]
        seen = _seen(described)
        acting = [s for s in seen if s.actor.type not in {_PLACE, _WRITING}]
        places = [s.actor.name for s in seen if s.actor.type == _PLACE]
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
        people = [s.actor.name for s in acting if s.actor.type in _PEOPLE]
        return TopicText(
            _title(acting, places, described),
            " ".join(sentences)[:TEXT_CHARS],
            tuple(people[:MOST_NAMES]),
            tuple(places[:MOST_NAMES]),
        )

    def tell_overview(self, topics: Sequence[Topic], *, profile: str, meter: Meter) -> OverviewText:
        people, places = (_by_time((t, names(t)) for t in topics) for names in (_people_of, _places_of))
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


def _people_of(topic: Topic) -> tuple[str, ...]:
    return topic.people


def _places_of(topic: Topic) -> tuple[str, ...]:
    return topic.places


def _by_time(parts: Iterable[tuple[Topic, Sequence[str]]]) -> list[str]:
    """Names by the length of the topics that give them, longest first; ties in order of appearance."""
    lasted: Counter[str] = Counter()
    for topic, names in parts:
        for name in names:
            lasted[name] += topic.span.duration_ms
    return [name for name, _ in lasted.most_common()]


def _groups(topics: Sequence[Topic], most: int) -> list[Sequence[Topic]]:
    """topics in at most `most` runs of nearly equal size."""
    count = min(most, len(topics))
    edges = [k * len(topics) // count for k in range(count + 1)]
    return [topics[a:b] for a, b in pairwise(edges)]


def _seen(events: Sequence[EventDigest]) -> list[_Seen]:
    """Every name of the events, seen longest first; ties in order of appearance."""
    found: dict[tuple[str, str], _Seen] = {}
    for event in events:
        here = Counter((plain, actor.type) for plain, actor in zip(_plain(event.actors), event.actors, strict=True))
        for (name, kind), count in here.items():
            seen = found.setdefault(
                (name.casefold(), kind), _Seen(Actor(name, kind), event.span.start_ms, event.span.end_ms)
            )
            seen.end_ms = event.span.end_ms
            seen.total_ms += event.span.duration_ms
            seen.at_once = max(seen.at_once, count)
    return sorted(found.values(), key=lambda seen: -seen.total_ms)


def _plain(actors: Sequence[Actor]) -> list[str]:
    """Names without the number that only tells apart those of one event ("person in black 2")."""
    bare = [re.sub(r" \d+\Z", "", actor.name) for actor in actors]
    shared = Counter(bare)
    return [short if shared[short] > 1 else actor.name for short, actor in zip(bare, actors, strict=True)]


def _some(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _quoted(texts: Sequence[str]) -> list[str]:
    return [f'"{text}"' for text in texts]


def _lasting(seen: _Seen) -> str:
    several = f", {seen.at_once} in one event" if seen.at_once > 1 else ""
    return f"{seen.actor.name} (in events of {seen.total_ms // 1000} s{several})"


def _changes(acting: Sequence[_Seen], start_ms: int, end_ms: int) -> list[str]:
    """Who is first named later than the beginning, and who is not named at the end."""
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
    """The first sentences of an event's text, without its times, at most 240 characters as far as whole ones go."""
    sentences = _SENTENCE_END.split(_TIMES.sub("", clean(summary)))
    kept = sentences[0]
    for sentence in sentences[1:]:
        if len(kept) + 1 + len(sentence) > 240:
            break
        kept = f"{kept} {sentence}"
    kept = kept[:400]
    return kept if kept.endswith((".", "!", "?", '"')) else f"{kept}."


# --- told by a model ------------------------------------------------------------------------------------------------

_NAMES = {"type": "array", "items": {"type": "string"}}


def _schema(title: str, *texts: str) -> Mapping[str, Any]:
    properties = {**{text: {"type": "string"} for text in texts}, "people": _NAMES, "places": _NAMES}
    return {
        "title": title,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TOPIC_SCHEMA = _schema("topic", "title", "summary")
_OVERVIEW_SCHEMA = _schema("overview", "text")


class LlmNarrator:
    """A roles.Narrator played by a chat model. What does not fit one request is told in parts, and the parts told anew.

    Names that the material does not give are left out, and so are sentences that use them.
    """

    def __init__(self, model: ChatModel, *, max_tokens: int = 512) -> None:
        self.name = model.name
        self._model = model
        self._max_tokens = max_tokens

    def tell_topic(self, events: Sequence[EventDigest], *, profile: str, meter: Meter) -> TopicText:
        system = load("topics", profile).substitute(focus=load("topics_focus", profile).template)
        said = said_by_events(events)
        measured = MeasuredNarrator().tell_topic(events, profile=profile, meter=meter)

        def read(answer: dict[str, Any]) -> TopicText:
            summary = said.without_strangers(clean(answer["summary"], limit=TEXT_CHARS))
            title = clean(answer["title"], limit=TITLE_CHARS)
            if not summary or not title:
                raise ValueError("title or summary is empty, or names somebody that no event names")
            told = Said([summary, *(event.summary for event in events)])
            if not all(told.holds(word) for word in _WITHIN.findall(title)):
                title = measured.title
            return TopicText(
                title, summary, said.kept(_strings(answer["people"])), said.kept(_strings(answer["places"]))
            )

        def as_line(text: TopicText) -> str:
            return f"{text.title}: {text.summary}{_named(text.people, text.places)}"

        lines = [_Line(event.span.start_ms, event.span.end_ms, _event_words(event)) for event in events]
        ask = self._asker(system, "topics_view", "events", _TOPIC_SCHEMA, "topics", read, profile, meter)
        return self._condense(lines, ask, as_line, system)

    def tell_overview(self, topics: Sequence[Topic], *, profile: str, meter: Meter) -> OverviewText:
        system = load("overview", profile).substitute()
        said = said_by_topics(topics)

        def read(answer: dict[str, Any]) -> OverviewText:
            text = said.without_strangers(clean(answer["text"], limit=TEXT_CHARS))
            if not text:
                raise ValueError("text is empty, or names somebody that no part names")
            return OverviewText(text, said.kept(_strings(answer["people"])), said.kept(_strings(answer["places"])))

        def as_line(text: OverviewText) -> str:
            return f"{text.text}{_named(text.people, text.places)}"

        lines = [
            _Line(t.span.start_ms, t.span.end_ms, f"{t.title}: {t.summary}{_named(t.people, t.places)}") for t in topics
        ]
        ask = self._asker(system, "overview_view", "parts", _OVERVIEW_SCHEMA, "overview", read, profile, meter)
        return self._condense(lines, ask, as_line, system)

    def _asker(
        self,
        system: str,
        view: str,
        placeholder: str,
        schema: Mapping[str, Any],
        stage: str,
        read: Callable[[dict[str, Any]], Text],
        profile: str,
        meter: Meter,
    ) -> Callable[[Sequence[_Line]], Text]:
        def ask(lines: Sequence[_Line]) -> Text:
            user = load(view, profile).substitute({placeholder: "\n".join(map(str, lines))})
            messages = [Message("system", (system,)), Message("user", (user,))]
            return ask_object(
                self._model, messages, schema=schema, read=read, stage=stage, meter=meter, max_tokens=self._max_tokens
            )

        return ask

    def _condense(
        self,
        lines: Sequence[_Line],
        ask: Callable[[Sequence[_Line]], Text],
        as_line: Callable[[Text], str],
        system: str,
    ) -> Text:
        """The text of all lines; in rounds, each of which leaves at most half as many, until one request holds them."""
        room = self._model.context_tokens - self._model.count_tokens(system) - self._max_tokens - _MARGIN
        if room < 64:
            raise ModelError("context_exceeded", f"{self.name}: no room for any event in its window", retryable=False)
        while True:
            packs = self._packs(lines, room)
            if len(packs) == 1:
                return ask(packs[0])
            lines = [
                pack[0] if len(pack) == 1 else _Line(pack[0].start_ms, pack[-1].end_ms, as_line(ask(pack)))
                for pack in packs
            ]

    def _packs(self, lines: Sequence[_Line], room: int) -> list[list[_Line]]:
        """lines in runs of at most room tokens. A line is cut to half the room, so that a run holds at least two."""
        packs: list[list[_Line]] = [[]]
        used = 0
        for line in lines:
            line, cost = self._fitted(line, room // 2)
            if packs[-1] and used + cost > room:
                packs.append([])
                used = 0
            packs[-1].append(line)
            used += cost
        return packs

    def _fitted(self, line: _Line, most: int) -> tuple[_Line, int]:
        """line, cut where it has more than `most` tokens, and its tokens."""
        while (cost := self._model.count_tokens(f"{line}\n")) > most and len(line.text) > 1:
            line = _Line(line.start_ms, line.end_ms, line.text[: max(1, len(line.text) * most // (cost + 1))])
        return line, cost


@dataclass(frozen=True, slots=True)
class _Line:
    """What a request says of one stretch of time."""

    start_ms: int
    end_ms: int
    text: str

    def __str__(self) -> str:
        return f"[{clock(self.start_ms)}-{clock(self.end_ms)}] {self.text}"


def _event_words(event: EventDigest) -> str:
    if not event.described:
        return "(could not be described)"
    people = [actor.name for actor in event.actors if actor.type in _PEOPLE]
    places = [actor.name for actor in event.actors if actor.type == _PLACE]
    return clean(event.summary) + _named(people, places)


def _named(people: Sequence[str], places: Sequence[str]) -> str:
    """Names as the model is to copy them."""
    parts = [
        f" {label}: {'; '.join(clean(name, limit=120) for name in names[:MOST_NAMES])}."
        for label, names in (("People", people), ("Places", places))
        if names
    ]
    return "".join(parts)


def _strings(value: object) -> list[str]:
    return [name for item in value if (name := clean(item, limit=120))] if isinstance(value, list) else []
