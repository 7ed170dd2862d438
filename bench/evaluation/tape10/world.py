"""What the tape records, decided by a seed: recordings, topics, moments, things, speech and writing. No model."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Literal
from zoneinfo import ZoneInfo

from bench.evaluation.tape10.codes import Codes
from bench.evaluation.tape10.scenes import NAMES, Happening, Scene, scene
from gpu_workers.engine.ekg import CHUNK_MS, Span

TAPE_MS = 10 * 3_600_000
ZONE = "Europe/Berlin"
SHIFTS = ("2026-10-25", "2025-10-26", "2026-03-29", "2027-03-28", "2024-10-27", "2025-03-30")
"""Sundays on which the clocks of the zone change at night."""

EVENT_CHUNKS = (2, 3, 3, 3, 4, 4, 5)
"""Lengths of events in chunks, equally frequent."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One stretch of the tape. begins_at: the instant of span.start_ms. source: evidence of its clock."""

    scene: str
    span: Span
    begins_at: datetime
    source: Literal["recorded_at", "picture"]

    def local(self, ms: int) -> datetime:
        """Return the local time of a moment of the tape inside this recording."""
        return (self.begins_at + timedelta(milliseconds=ms - self.span.start_ms)).astimezone(ZoneInfo(ZONE))


@dataclass(frozen=True, slots=True)
class Part:
    """A topic on the tape: moments first..end (one past the last)."""

    scene: str
    span: Span
    title: str
    summary: str
    key: tuple[str, ...]
    first: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Writing:
    """Text in the picture. code: the string that was really written; shown: the string as it was read, perhaps with
    an error of the reader. decoy: whether it resembles a code that a question asks for."""

    kind: str
    shown: str
    code: str
    decoy: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A spoken line. rare: a word, number or code that is said nowhere else on the tape, "" without one."""

    span: Span
    text: str
    rare: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """One event of the tape. template: its sentence with slots. slots: their values. happening: name of the counted
    happening, "" if it is none."""

    n: int
    span: Span
    scene: str
    text: str
    template: str = ""
    slots: tuple[tuple[str, str], ...] = ()
    happening: str = ""
    writing: tuple[Writing, ...] = ()
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Thing:
    """A tracked thing of the tape, visible in spans, which are in order and disjoint."""

    n: int
    scene: str
    category: str
    colour: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class World:
    seed: int
    recordings: tuple[Recording, ...]
    parts: tuple[Part, ...]
    moments: tuple[Moment, ...]
    things: tuple[Thing, ...]

    @property
    def span(self) -> Span:
        return Span(0, self.recordings[-1].span.end_ms)

    def recording(self, name: str) -> Recording:
        return next(recording for recording in self.recordings if recording.scene == name)

    def within(self, span: Span) -> list[Moment]:
        """Return the moments that overlap span, in order."""
        return [moment for moment in self.moments if moment.span.overlaps(span)]

    def at(self, ms: int) -> Moment:
        return next(moment for moment in self.moments if moment.span.contains(ms))


def make_world(seed: int, *, total_ms: int = TAPE_MS) -> World:
    """Return the tape of a seed. total_ms: its length, a multiple of five chunks; the same input gives the same tape.

    Five cameras in turn, about a fifth of the tape each: a shop and a street on a Saturday, a pond in the night in
    which the clocks change, a kitchen on the Sunday, an office on the Monday.
    """
    rng = random.Random(f"tape10 {seed}")
    recordings = tuple(_recordings(rng, total_ms))
    codes = Codes(rng)
    parts: list[Part] = []
    moments: list[Moment] = []
    things: list[Thing] = []
    for recording in recordings:
        drawn = scene(recording.scene)
        for part in _parts(rng, recording, drawn, share=total_ms / TAPE_MS):
            first = len(moments)
            moments += _plain(rng, part, drawn, first)
            parts.append(replace(part, first=first, end=len(moments)))
        start = next(index for index, moment in enumerate(moments) if moment.scene == recording.scene)
        own = moments[start:]
        free = list(range(1, len(own) - 1))
        rng.shuffle(free)
        for happening in drawn.happenings:
            _put_happening(rng, own, free, drawn, happening, limit=max(2, round(11 * min(1.0, total_ms / TAPE_MS * 2))))
        things += _put_things(rng, own, free, drawn, len(things), share=min(1.0, total_ms / TAPE_MS * 2))
        _put_writing(rng, own, drawn, codes, count=max(6, len(own) // 14))
        _put_lines(rng, own, drawn, codes, count=max(8, len(own) // 5))
        moments[start:] = own
    return World(seed, recordings, tuple(parts), tuple(moments), tuple(things))


def filled(rng: random.Random, template: str, drawn: Scene, **fixed: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the sentence of a template and the values of its slots."""
    actor = rng.choice(drawn.actors)
    values = {
        "A": actor[0].upper() + actor[1:],
        "a": actor,
        "p": rng.choice(drawn.places),
        "t": rng.choice(drawn.things),
        **fixed,
    }
    used = tuple((name, value) for name, value in values.items() if f"{{{name}}}" in template)
    return template.format(**values), used


def _recordings(rng: random.Random, total_ms: int) -> Iterator[Recording]:
    shift = datetime.fromisoformat(rng.choice(SHIFTS))
    saturday = shift - timedelta(days=1)
    # Each time the camera runs through the change, and for some time after it.
    night = 2 if shift.month == 10 else 1
    starts = {
        "shop": saturday.replace(hour=12, minute=rng.randrange(5, 40)),
        "street": saturday.replace(hour=16, minute=rng.randrange(2, 50)),
        "wildlife": shift.replace(hour=night, minute=rng.randrange(5, 35)),
        "kitchen": shift.replace(hour=9, minute=rng.randrange(5, 50)),
        "office": (shift + timedelta(days=1)).replace(hour=13, minute=rng.randrange(5, 50)),
    }
    chunks = total_ms // CHUNK_MS // len(NAMES)
    at = 0
    for position, name in enumerate(NAMES):
        length = chunks + rng.randrange(-chunks // 12, chunks // 12)
        end = total_ms if position == len(NAMES) - 1 else at + length * CHUNK_MS
        begins_at = starts[name].replace(second=rng.randrange(60), tzinfo=ZoneInfo(ZONE))
        # Sums of aware datetimes in one zone ignore the change of its clocks.
        yield Recording(name, Span(at, end), begins_at.astimezone(ZoneInfo("UTC")), _SOURCES[name])
        at = end


_SOURCES: dict[str, Literal["recorded_at", "picture"]] = {
    "shop": "recorded_at",
    "street": "picture",
    "wildlife": "picture",
    "kitchen": "recorded_at",
    "office": "recorded_at",
}


def _parts(rng: random.Random, recording: Recording, drawn: Scene, *, share: float) -> Iterator[Part]:
    """Yield the topics of a recording in a new order, as many as there is time for."""
    topics = rng.sample(drawn.topics, len(drawn.topics) if share > 0.5 else 3)
    whole = recording.span.duration_ms // CHUNK_MS
    weights = [rng.uniform(0.7, 1.3) for _ in topics]
    cuts = [round(whole * sum(weights[:n]) / sum(weights)) for n in range(len(topics) + 1)]
    for topic, (start, end) in zip(topics, pairwise(cuts), strict=True):
        base = recording.span.start_ms
        span = Span(base + start * CHUNK_MS, base + end * CHUNK_MS)
        yield Part(recording.scene, span, topic.title, topic.summary, topic.key)


def _plain(rng: random.Random, part: Part, drawn: Scene, first: int) -> Iterator[Moment]:
    """Yield the moments of a part: sentences of its topic, and of what goes on in any case."""
    (topic,) = (topic for topic in drawn.topics if topic.title == part.title)
    at, n, before = part.span.start_ms, first, ""
    while at < part.span.end_ms:
        end = min(part.span.end_ms, at + rng.choice(EVENT_CHUNKS) * CHUNK_MS)
        template = before
        while template == before:
            template = rng.choice(topic.sentences if rng.random() < 0.7 else drawn.background)
        text, slots = filled(rng, template, drawn)
        yield Moment(n, Span(at, end), part.scene, text, template, slots)
        at, n, before = end, n + 1, template


def _put_happening(
    rng: random.Random, own: list[Moment], free: list[int], drawn: Scene, happening: Happening, *, limit: int
) -> None:
    """Replace some moments by the happening, no two of them next to each other."""
    taken: set[int] = set()
    wanted = rng.randint(min(3, limit), limit)
    for index in list(free):
        if len(taken) == wanted:
            break
        if taken & {index - 2, index - 1, index + 1, index + 2}:
            continue
        taken.add(index)
        free.remove(index)
        template = rng.choice(happening.texts)
        text, slots = filled(rng, template, drawn)
        own[index] = replace(own[index], text=text, template=template, slots=slots, happening=happening.name)


def _put_things(
    rng: random.Random, own: list[Moment], free: list[int], drawn: Scene, known: int, *, share: float
) -> list[Thing]:
    """Replace some moments by appearances of tracked things."""
    things: list[Thing] = []
    for seen in drawn.things_seen:
        most = max(2, round(seen.most * share))
        for _ in range(rng.randint(max(1, most * 3 // 5), most)):
            colour = rng.choice(seen.colours)
            spans = []
            for _ in range(min(rng.choice((1, 1, 1, 2, 3)), len(free))):
                index = free.pop()
                template = rng.choice(seen.texts)
                text, slots = filled(rng, template, drawn, c=colour)
                own[index] = replace(own[index], text=text, template=template, slots=slots)
                span = own[index].span
                begin_ms = min(span.start_ms + rng.randrange(0, 2_000), span.end_ms - 1)
                spans.append(Span(begin_ms, max(begin_ms + 1, span.end_ms - rng.randrange(0, 1_500))))
            if spans:
                things.append(Thing(known + len(things) + 1, drawn.name, seen.category, colour, tuple(sorted(spans))))
    return sorted(things, key=lambda thing: (thing.spans, thing.n))


def _put_writing(rng: random.Random, own: list[Moment], drawn: Scene, codes: Codes, *, count: int) -> None:
    """Write codes into the picture of some moments: targets, some of them misread, and decoys one character away."""
    places = rng.sample(range(len(own)), count)
    while places:
        code = codes.new(drawn.writing_kind)
        name = codes.name()
        misread = rng.random() < 0.3
        shown = codes.misread(code) if misread else code
        group = [Writing(drawn.writing_kind, drawn.writing.format(code=shown, n=name), code)]
        if rng.random() < 0.5:
            for other in codes.decoys(code, rng.randint(1, 2)):
                text = drawn.writing.format(code=other, n=codes.name())
                group.append(Writing(drawn.writing_kind, text, other, decoy=True))
        for writing in group[: len(places)]:
            index = places.pop()
            own[index] = replace(own[index], writing=(*own[index].writing, writing))


def _put_lines(rng: random.Random, own: list[Moment], drawn: Scene, codes: Codes, *, count: int) -> None:
    """Let somebody say a line in some moments. A quarter of the words is said once on the whole tape."""
    words = rng.sample(drawn.words, len(drawn.words))
    once, often = words[: len(words) // 4], words[len(words) // 4 :]
    for index in rng.sample(range(len(own)), count):
        template = rng.choice(drawn.lines)
        rare, word = "", rng.choice(often)
        if once and "{w}" in template:
            rare = word = once.pop()
        number, code = codes.number(), codes.new("contract")
        rare = rare or (code if "{code}" in template else number if "{num}" in template else "")
        text = template.format(n=codes.name(), w=word, num=number, code=code)
        start = own[index].span.start_ms + rng.randrange(0, 300)
        line = Line(Span(start, start + rng.randrange(1_500, 2_600)), text, rare)
        own[index] = replace(own[index], lines=(line,))


def separate_times(moments: Sequence[Moment], name: str) -> int:
    """Return how often a happening begins: neighbouring moments of it are one time."""
    count, before = 0, False
    for moment in moments:
        now = moment.happening == name
        count += now and not before
        before = now
    return count
