"""The questions of a tape: 60 of each kind, drawn by the tape's own seed."""

from __future__ import annotations

from collections.abc import Iterator

from bench.evaluation.tape10.number_questions import count_questions
from bench.evaluation.tape10.question import Drawing, TapeQuestion
from bench.evaluation.tape10.time_questions import clock_questions, time_questions
from bench.evaluation.tape10.topic_questions import topic_questions
from bench.evaluation.tape10.word_questions import word_questions
from bench.evaluation.tape10.world import World


def make_questions(world: World) -> tuple[TapeQuestion, ...]:
    """Return the questions about the tape; a short tape has fewer. The same tape has the same questions."""
    return tuple(_drawn(Drawing(world)))


def _drawn(drawing: Drawing) -> Iterator[TapeQuestion]:
    for draw in (time_questions, clock_questions, word_questions, count_questions, topic_questions):
        yield from draw(drawing)
