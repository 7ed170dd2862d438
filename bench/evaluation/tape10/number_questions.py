"""Questions for a number: how many things there are, how often something happens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from bench.evaluation.tape10.question import Drawing, TapeQuestion, capital
from bench.evaluation.tape10.saying import clock_times, length, names_number, video_times
from bench.evaluation.tape10.scenes import NAMES, Happening, scene
from bench.evaluation.tape10.time_questions import Draw, clock_stretch, question, several
from bench.evaluation.tape10.world import Thing, World, separate_times
from gpu_workers.engine.ekg import Span

COUNT_FORMS = {"things": 14, "things_when": 16, "times": 10, "times_when": 20}
"""Number of questions of each form."""

PLURALS = {
    "person": "people", "car": "cars", "bicycle": "bicycles", "bus": "buses", "dog": "dogs", "cat": "cats",
    "motorcycle": "motorcycles", "bird": "birds",
}  # fmt: skip
EDGE_MS = 20_000
"""A thing or happening so close to the end of the stretch that is asked for would make its number a matter of taste."""

ONE_LESS_OFTEN = 0.8
"""Share of the stretches with a single thing or happening that are not asked about."""


def things_in(world: World, category: str, colour: str, span: Span) -> list[Thing]:
    """Return the things of a category, of any colour if colour is "", that are visible within span."""
    return [
        thing
        for thing in world.things
        if thing.category == category and colour in ("", thing.colour) and any(s.overlaps(span) for s in thing.spans)
    ]


def times_in(world: World, happening: str, span: Span) -> int:
    """Return how often a happening begins in span."""
    return separate_times(world.within(span), happening)


def stretch(drawing: Drawing, *, most_ms: int) -> tuple[str, Span] | None:
    """Return words for a stretch of the tape of at most that length, and the stretch."""
    form = drawing.rng.choice(("first", "last", *("stretch",) * 4, *("clock",) * 8))
    if form == "clock":
        drawn = clock_stretch(drawing)
        if drawn is None or drawn[2].duration_ms > most_ms:
            return None
        start, end, span = drawn
        # Half an hour that was filmed for twenty minutes would be another question for a reader of the clock.
        if abs(span.duration_ms - (end - start) / timedelta(milliseconds=1)) > 1_000:
            return None
        return drawing.sentence("when.clock", clock_times(start, end)), span
    minutes = drawing.rng.choice([n for n in (10, 15, 20, 30, 40, 45, 60, 120) if n * 60_000 <= most_ms])
    last = drawing.world.span.end_ms
    if minutes * 60_000 >= last:
        return None
    if form == "stretch":
        start_ms = drawing.rng.randrange((last - minutes * 60_000) // 60_000) * 60_000
        span = Span(start_ms, start_ms + minutes * 60_000)
        return drawing.sentence("when.stretch", video_times(span.start_ms, span.end_ms)), span
    span = Span(0, minutes * 60_000) if form == "first" else Span(last - minutes * 60_000, last)
    return drawing.sentence(f"when.{form}", {"length": length(minutes)}), span


def _kinds_of_things(world: World) -> list[tuple[str, str]]:
    """Return (category, colour) of what can be counted; colour "" for any."""
    kinds = {(thing.category, "") for thing in world.things}
    return sorted(kinds | {(thing.category, thing.colour) for thing in world.things if thing.category != "person"})


def _asked(drawing: Drawing, form: str, slots: Mapping[str, str], number: int) -> TapeQuestion | None:
    text = capital(drawing.sentence(f"counts.{form}", slots))
    if not number or names_number(text, number):
        return None
    return question(drawing, "counts", form, text, "number", number=number)


def things(drawing: Drawing) -> TapeQuestion | None:
    category, colour = drawing.rng.choice(_kinds_of_things(drawing.world))
    number = len(things_in(drawing.world, category, colour, drawing.world.span))
    return _asked(drawing, "things", {"things": f"{colour} {PLURALS[category]}".strip()}, number)


def things_when(drawing: Drawing) -> TapeQuestion | None:
    drawn = stretch(drawing, most_ms=7_200_000)
    if drawn is None:
        return None
    when, span = drawn
    category, colour = drawing.rng.choice(_kinds_of_things(drawing.world))
    numbers = {len(things_in(drawing.world, category, colour, near)) for near in _around(span, drawing.world.span)}
    if len(numbers) != 1:
        return None
    named = f"{colour} {PLURALS[category]}".strip()
    number = numbers.pop()
    if number == 1 and drawing.rng.random() < ONE_LESS_OFTEN:
        return None
    return _asked(drawing, "things_when", {"things": named, "when": when, "When": capital(when)}, number)


def _happenings(world: World) -> Sequence[Happening]:
    held = {moment.happening for moment in world.moments}
    return [happening for name in NAMES for happening in scene(name).happenings if happening.name in held]


def times(drawing: Drawing) -> TapeQuestion | None:
    happening = drawing.rng.choice(_happenings(drawing.world))
    number = times_in(drawing.world, happening.name, drawing.world.span)
    slots = {"verb": happening.verb, "past": happening.past, "plural": happening.plural}
    return _asked(drawing, "times", slots, number)


def times_when(drawing: Drawing) -> TapeQuestion | None:
    drawn = stretch(drawing, most_ms=3_600_000)
    if drawn is None:
        return None
    when, span = drawn
    happening = drawing.rng.choice(_happenings(drawing.world))
    numbers = {times_in(drawing.world, happening.name, near) for near in _around(span, drawing.world.span)}
    if len(numbers) != 1:
        return None
    number = numbers.pop()
    if number == 1 and drawing.rng.random() < ONE_LESS_OFTEN:
        return None
    slots = {"verb": happening.verb, "past": happening.past, "plural": happening.plural}
    return _asked(drawing, "times_when", {**slots, "when": when, "When": capital(when)}, number)


def _around(span: Span, tape: Span) -> list[Span]:
    """Return the span, and it a little wider and a little narrower."""
    spans = [span]
    for shift in (-EDGE_MS, EDGE_MS):
        near = Span(max(0, span.start_ms + shift), span.end_ms - shift).cut_to(tape)
        spans += [near] if near else []
    return spans


def count_questions(drawing: Drawing) -> Iterator[TapeQuestion]:
    draws: dict[str, Draw] = {"things": things, "things_when": things_when, "times": times, "times_when": times_when}
    for form, count in COUNT_FORMS.items():
        yield from several(drawing, draws[form], count)
