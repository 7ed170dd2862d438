"""Questions asked at once, with answers in their order."""

from __future__ import annotations

import threading

import pytest

from bench.evaluation.asking import answers

DEADLINE_S = 30.0


def test_as_many_questions_are_asked_at_once_as_there_are_workers() -> None:
    together = threading.Barrier(3)

    def ask(question: int) -> int:
        together.wait(DEADLINE_S)
        return 10 * question

    with answers(range(6), ask, workers=3) as found:
        assert list(found) == [0, 10, 20, 30, 40, 50]


def test_one_worker_asks_on_the_thread_of_its_caller_and_only_what_is_taken() -> None:
    asked = []

    def ask(question: int) -> threading.Thread:
        asked.append(question)
        return threading.current_thread()

    with answers(range(6), ask, workers=1) as found:
        assert next(found) is threading.current_thread()
    assert asked == [0]


def test_questions_that_were_not_begun_are_dropped_when_one_fails() -> None:
    asked: list[int] = []
    failing = threading.Event()

    def ask(question: int) -> int:
        asked.append(question)
        if question == 0:
            raise ConnectionError
        failing.wait(DEADLINE_S)
        return question

    def first_of(questions: range) -> int:
        with answers(questions, ask, workers=2) as found:
            return next(found)

    with pytest.raises(ConnectionError):
        first_of(range(50))
    # The other worker stands at its question until the first one's error is known.
    failing.set()
    assert len(asked) < 50
