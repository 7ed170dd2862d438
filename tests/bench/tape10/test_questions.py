"""The questions about the tape: their answers recomputed from the tape by brute force, unique, and not given away."""

from __future__ import annotations

import re
from collections import Counter
from datetime import timedelta

import pytest

from bench.evaluation.tape10.question import KINDS, TapeQuestion, half_of
from bench.evaluation.tape10.questions import make_questions
from bench.evaluation.tape10.saying import names_number
from bench.evaluation.tape10.scenes import NAMES, phrasings, scene
from bench.evaluation.tape10.scoring import names
from bench.evaluation.tape10.word_questions import said
from bench.evaluation.tape10.world import World, make_world
from gpu_workers.engine.ekg import Span

Asked = tuple[World, tuple[TapeQuestion, ...]]
PLURALS = {
    "people": "person", "cars": "car", "bicycles": "bicycle", "buses": "bus", "dogs": "dog", "cats": "cat",
    "motorcycles": "motorcycle", "birds": "bird",
}  # fmt: skip


@pytest.fixture(scope="module", params=(0, 1))
def asked(request: pytest.FixtureRequest) -> Asked:
    world = make_world(request.param)
    return world, make_questions(world)


def of(asked: Asked, *kinds: str) -> list[TapeQuestion]:
    return [question for question in asked[1] if question.kind in kinds]


def test_there_are_sixty_questions_of_each_kind_all_different(asked: Asked) -> None:
    world, questions = asked
    assert Counter(question.kind for question in questions) == dict.fromkeys(KINDS, 60)
    assert len({question.id for question in questions}) == 300
    assert len({(question.text, question.now) for question in questions}) == 300
    assert make_questions(world) == questions


def test_the_parts_share_no_sentence_and_every_seed_has_one() -> None:
    for parts in phrasings().values():
        assert set(parts) == {half_of(0), half_of(1), half_of(100), half_of(200), half_of(300)}
        sentences = [text for part in parts.values() for text in part]
        assert len(sentences) == len(set(sentences))


# --- answers, recomputed -------------------------------------------------------------------------------------------


def video_ms(words: str) -> int:
    hours, minutes, seconds = map(int, words.split(":"))
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000


def test_a_time_of_the_video_names_its_stretch(asked: Asked) -> None:
    for question in of(asked, "time"):
        times = [video_ms(words) for words in re.findall(r"\d+:\d\d:\d\d", question.text)]
        minutes = [int(n) * 60_000 for n in re.findall(r"(?<!\d)\d+(?![\d:])", question.text)]
        if question.form == "stretch":
            low, high = times or minutes
            assert question.span == Span(low, high)
        elif question.form == "moment" and times:
            assert question.span == Span(times[0], times[0] + 1_000)
        elif question.form == "outside":
            assert question.span is None
            assert min(times or minutes) >= asked[0].span.end_ms


def test_an_order_names_the_neighbour_of_the_nth_time(asked: Asked) -> None:
    world = asked[0]
    orders = {h.order: h.name for name in NAMES for h in scene(name).happenings if h.order}
    ordinals = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
    for question in (each for each in of(asked, "time") if each.rule == "order"):
        (order,) = (noun for noun in orders if noun in question.text)
        (nth,) = (n for n, word in enumerate(ordinals) if f" {word} {order}" in question.text)
        found = [moment.n for moment in world.moments if moment.happening == orders[order]]
        assert question.anchor == found[nth]
        assert question.moment == question.anchor + (1 if question.form == "after" else -1)


def test_a_time_of_the_wall_clock_names_all_that_was_filmed_then_in_one_part(asked: Asked) -> None:
    world = asked[0]
    seconds = [
        (ms, f"{local:%Y-%m-%d}", (local.hour, local.minute))
        for recording in world.recordings
        for ms in range(recording.span.start_ms, recording.span.end_ms, 1_000)
        for local in (recording.local(ms),)
    ]
    for question in of(asked, "clock"):
        times = [tuple(map(int, time)) for time in re.findall(r"\b(\d{1,2}):(\d\d)\b", question.text)]
        half = re.findall(r"\b\d{1,2}:\d\d (am|pm)\b", question.text)
        times = [
            (hour % 12 + (12 if half[n] == "pm" else 0) if half else hour, minute)
            for n, (hour, minute) in enumerate(times)
        ]
        if not times or question.form in ("daypart", "today"):
            continue
        day = named_day(world, question)
        last = times[1] if len(times) > 1 else (times[0][0], times[0][1] + 1)
        filmed = [ms for ms, date, minute in seconds if times[0] <= minute < last and (day is None or date == day)]
        if question.rule == "nothing":
            assert filmed == []
            continue
        assert question.span == Span(filmed[0], filmed[-1] + 1_000)
        assert len(filmed) * 1_000 == question.span.duration_ms, "in one part"


def named_day(world: World, question: TapeQuestion) -> str | None:
    """Return the day that a question names, by its words and the time at which it is asked; None without one."""
    for recording in world.recordings:
        for ms in (recording.span.start_ms, recording.span.end_ms - 1_000):
            local = recording.local(ms)
            if f"{local.day} {local:%B}" in question.text or f"{local:%A}" in question.text:
                return f"{local:%Y-%m-%d}"
    back = (
        2 if "the day before yesterday" in question.text.lower() else 1 if "yesterday" in question.text.lower() else 0
    )
    return f"{question.now - timedelta(days=back):%Y-%m-%d}" if back else None


def test_words_and_codes_belong_to_one_event(asked: Asked) -> None:
    world = asked[0]
    for question in of(asked, "words"):
        assert question.moment is not None
        moment = world.moments[question.moment]
        codes = [item.code for item in moment.writing if item.code in question.text]
        if question.form in ("plate", "code"):
            assert sum(item.code == codes[0] for other in world.moments for item in other.writing) == 1
        elif question.form == "quoted":
            (words,) = re.findall(r'"([^"]+)"', question.text)
            assert [each.n for each in said(world.moments, words)] == [moment.n]
        else:
            (rare,) = (line.rare for line in moment.lines)
            assert rare in question.text
            assert [each.n for each in said(world.moments, rare)] == [moment.n]


def test_numbers_are_counted_again_and_none_is_in_its_question(asked: Asked) -> None:
    world = asked[0]
    verbs = {form: h for name in NAMES for h in scene(name).happenings for form in (h.verb, h.past, h.plural)}
    for question in of(asked, "counts"):
        assert question.number is not None
        assert not names_number(question.text, question.number)
        if question.form == "things":
            (noun,) = (word for word in PLURALS if re.search(rf"\b{word}\b", question.text.lower()))
            held = [thing for thing in world.things if thing.category == PLURALS[noun]]
            colours = [colour for colour in {thing.colour for thing in held} if colour in question.text.split()]
            assert question.number == sum(not colours or thing.colour in colours for thing in held)
        elif question.form == "times":
            (happening,) = {verbs[form].name for form in verbs if form in question.text}
            assert question.number == sum(moment.happening == happening for moment in world.moments)


def test_topics_are_not_named_by_the_question(asked: Asked) -> None:
    for question in of(asked, "whole"):
        assert question.topics
        assert not any(names(question.text, keys) for keys in question.topics)


def test_a_topics_key_is_in_its_own_words_and_in_no_other_title_of_its_scene() -> None:
    for name in NAMES:
        topics = scene(name).topics
        for topic in topics:
            assert names(topic.title, topic.key) or names(topic.summary, topic.key), topic.title
            others = [other.title for other in topics if other is not topic and names(other.title, topic.key)]
            assert others == [], topic.title
