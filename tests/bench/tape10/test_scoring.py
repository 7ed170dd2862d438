"""What counts as right."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bench.evaluation.tape10.question import TapeQuestion
from bench.evaluation.tape10.scoring import Reply, named_beyond, names, number_of, overlap, right
from bench.evaluation.tape10.world import World, make_world
from gpu_workers.engine.ekg import Span

NOTHING = Reply(False, ())


@pytest.fixture(scope="module")
def world() -> World:
    return make_world(0, total_ms=30 * 60_000)


def asked(**answer: object) -> TapeQuestion:
    empty = TapeQuestion("q", "time", "form", "What?", datetime(2026, 1, 1, tzinfo=UTC), "span")
    return replace(empty, **answer)  # type: ignore[arg-type]


def test_a_stretch_is_right_from_half_of_the_union_on(world: World) -> None:
    question = asked(rule="span", span=Span(60_000, 120_000))

    assert overlap([Span(60_000, 180_000)], Span(60_000, 120_000)) == 0.5
    assert right(world, question, Reply(True, (Span(60_000, 180_000),)))
    assert not right(world, question, Reply(True, (Span(60_000, 181_000),)))
    assert not right(world, question, Reply(True, ()))
    assert not right(world, question, NOTHING)


def test_without_an_understood_time_every_best_event_must_lie_in_the_stretch(world: World) -> None:
    inside = [moment.n for moment in world.within(Span(60_000, 120_000))][:5]
    question = asked(rule="span", span=Span(60_000, 120_000))

    assert right(world, question, Reply(False, (), tuple(inside)))
    assert not right(world, question, Reply(False, (), (*inside[:4], world.moments[-1].n)))


def test_a_moment_needs_a_short_stretch_around_it_and_its_event(world: World) -> None:
    moment = world.moments[7]
    span = Span(moment.span.start_ms, moment.span.start_ms + 1_000)
    question = asked(rule="moment", span=span)

    assert right(world, question, Reply(True, (span,), (7,)))
    assert not right(world, question, Reply(True, (span,), (9,)))
    assert not right(world, question, Reply(True, (Span(0, 301_000),), (7,)))
    assert not right(world, question, Reply(False, (), (7,)))


def test_an_order_begins_where_its_anchor_ends(world: World) -> None:
    end = world.span.end_ms
    question = asked(rule="order", anchor=5, moment=6)
    after = world.moments[5].span.end_ms

    assert right(world, question, Reply(True, (Span(after, end),)))
    assert not right(world, question, Reply(True, (Span(world.moments[3].span.end_ms, end),)))
    before = asked(rule="order", anchor=5, moment=4)
    assert right(world, before, Reply(True, (Span(0, world.moments[5].span.start_ms),)))
    assert not right(world, before, Reply(True, (Span(after, end),)))
    assert right(world, question, Reply(False, (), (9, 6)))


def test_a_time_outside_the_tape_must_be_understood_as_outside(world: World) -> None:
    question = asked(rule="nothing")

    assert right(world, question, Reply(True, ()))
    assert not right(world, question, NOTHING)
    assert not right(world, question, Reply(True, (Span(0, 1),)))


def test_an_event_is_among_the_best_five(world: World) -> None:
    question = asked(rule="event", moment=9)

    assert right(world, question, Reply(False, (), (1, 2, 3, 4, 9)))
    assert not right(world, question, Reply(False, (), (1, 2, 3, 4, 5, 9)))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Exactly 12 cars are seen.", 12),
        ("About twelve cars.", 12),
        ("At 1:23:45 and on 25 October 2026 there were three.", 3),
        ("It happens twice [E4].", 2),
        ("The 3rd time is the last of seven.", 7),
        ("No car is seen.", 0),
        ("It never happens.", 0),
        ("Nobody knows.", None),
        ("", None),
    ],
)
def test_the_number_of_an_answer_is_its_first_that_is_no_time(text: str, number: int | None) -> None:
    assert number_of(text) == number


def test_a_number_may_be_a_tenth_off(world: World) -> None:
    for said, truth, expected in ((18, 20, True), (22, 20, True), (17, 20, False), (9, 10, True), (8, 9, False)):
        question = asked(rule="number", number=truth)
        assert right(world, question, Reply(False, (), (), f"About {said} of them.")) == expected
    assert not right(world, asked(rule="number", number=3), NOTHING)


def test_every_topic_must_be_named_as_a_word(world: World) -> None:
    question = asked(rule="topics", topics=(("rain", "flood"), ("road work",)))

    assert right(world, question, Reply(False, (), (), "The street is flooded. Road-works follow."))
    assert not right(world, question, Reply(False, (), (), "The street is flooded."))
    assert not names("A raincoat hangs there.", ("rain",))


def test_topics_are_counted_that_nobody_asked_for(world: World) -> None:
    first, second, *_, last = world.parts
    question = asked(rule="topics", span=first.span, topics=(first.key,))
    assert last.key != first.key

    said = f"First {first.key[0]}"
    assert named_beyond(world, question, said) == 0
    assert named_beyond(world, question, f"{said}, then {last.key[0]}") == 1
    # Half of it lies in the stretch, so that naming it is a matter of taste.
    half = Span(first.span.start_ms, (second.span.start_ms + second.span.end_ms) // 2)
    assert named_beyond(world, replace(question, span=half), f"{said}, then {second.key[0]}") == 0
    assert named_beyond(world, replace(question, span=world.span), f"{said}, then {last.key[0]}") == 0
