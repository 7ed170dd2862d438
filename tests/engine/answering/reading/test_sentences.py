"""What sentences of several languages say about time: tables of sentences, and figures in every form."""

from __future__ import annotations

import json
import random
from pathlib import Path
from uuid import UUID

import pytest

from gpu_workers.engine.answering.reading.placing import resolve, understood_time
from gpu_workers.engine.answering.reading.times import times_in
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.languages.detection import language_of
from gpu_workers.engine.ports import Recording
from tests.engine.answering.reading.meanings import meaning

VIDEO = UUID(int=1)
MINUTE, HOUR = 60_000, 3_600_000
SENTENCES: dict[str, list[tuple[str, str, str]]] = json.loads(Path(__file__).with_name("sentences.json").read_text())
"""Rows of language, sentence and meaning. paraphrase: forms that no rule is meant for."""


def misread(kind: str) -> list[tuple[str, str, str]]:
    """Return the sentences that mean something else than the table says, with what was read."""
    read = ((text, expected, meaning(times_in(text, language)[0])) for language, text, expected in SENTENCES[kind])
    return [(text, expected, found) for text, expected, found in read if found != expected]


def test_canonical_forms_mean_what_they_say() -> None:
    assert misread("canonical") == []


def test_other_words_are_no_time() -> None:
    assert misread("none") == []


def test_most_paraphrases_are_read() -> None:
    missed = misread("paraphrase")
    assert len(missed) <= len(SENTENCES["paraphrase"]) / 6, missed


@pytest.mark.parametrize(
    ("language", "form"),
    [
        ("en", "What happens at {one}?"),
        ("en", "Who is there between {one} and {two}?"),
        ("en", "From {one} to {two}, who comes in?"),
        ("en", "Look at {one} - {two} please"),
        ("en", "Who comes after {one}?"),
        ("de", "Wer kommt zwischen {one} und {two}?"),
        ("de", "Was geschieht bei {one}?"),
        ("es", "¿Quién entra entre {one} y {two}?"),
        ("fr", "Qui entre entre {one} et {two} ?"),
        ("pt", "Quem entra entre {one} e {two}?"),
        ("zh", "从{one}到{two}发生了什么？"),
    ],
)
def test_figures_are_read_back(language: str, form: str) -> None:
    chosen = random.Random(form)
    for _ in range(20):
        one, two = sorted(chosen.sample(range(9 * 3_600), 2))
        question = form.format(one=figures(one), two=figures(two))
        end = two if "{two}" in form else 9 * 3_600 if "after" in form else one + 1
        assert read(question, language=language) == [(one, end)], question


def figures(seconds: int) -> str:
    return f"{seconds // 3_600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def read(question: str, hours: int = 9, language: str = "") -> list[tuple[int, int]]:
    """Return the spans that are read of a video of that length, in seconds."""
    named, _ = times_in(question, language or language_of(question))
    stretches = resolve(named.forms, {VIDEO: Recording(VIDEO, "", hours * HOUR)}, None)
    time = understood_time(named, stretches, chosen_by="figures")
    return [(span.start_ms // 1_000, span.end_ms // 1_000) for span in time.read_spans()[VIDEO]]


@pytest.mark.parametrize(
    ("question", "spans"),
    [
        ("What is there at 0:10:00 and at 0:50:00?", [(600, 601), (3_000, 3_001)]),
        ("Did the man of 0:10:00 come back at 0:50:00?", [(600, 3_000)]),
        ("How many cars pass in the first and in the last 9 seconds?", [(0, 9), (3_591, 3_600)]),
        ("What happened in the first 40 minutes and in the second half?", [(0, 3_600)]),
        ("Was passiert in der ersten und in der zweiten Hälfte?", [(0, 1_800), (1_800, 3_600)]),
        ("Who is there in the last 90 minutes?", [(0, 3_600)]),
        ("How does the recording end?", [(3_240, 3_600)]),
        ("What is in the middle of the video?", [(1_440, 2_160)]),
    ],
)
def test_several_times_are_read_without_what_lies_between_if_only_and_joins_them(
    question: str, spans: list[tuple[int, int]]
) -> None:
    assert read(question, hours=1) == spans


def test_the_beginning_of_a_long_video_is_ten_minutes() -> None:
    assert read("How did it begin?", hours=10) == [(0, 600)]


@pytest.mark.parametrize(
    ("question", "words", "remaining"),
    [
        ("Who comes in the first 9 seconds and in the last 9 seconds?",
         "in the first 9 seconds and in the last 9 seconds", "Who comes?"),
        ("In the first or in the second half, who comes?", "In the first or in the second half", "who comes?"),
        ("What happened in the period from 10:00 to 11:00?", "in the period from 10:00 to 11:00", "What happened?"),
        ("Wer kommt um 10:00 oder um 15:00?", "um 10:00 oder um 15:00", "Wer kommt?"),
        ("Was geschah nach der zweiten Lieferung?", "nach der zweiten Lieferung", "Was geschah?"),
        ("¿Qué pasó antes del gol?", "antes del gol", "¿Qué pasó?"),
    ],
)  # fmt: skip
def test_the_words_of_a_time_are_taken_from_the_question(question: str, words: str, remaining: str) -> None:
    named, rest = times_in(question, language_of(question))
    assert (named.words, rest) == (words, remaining)


def test_of_many_spans_what_lies_between_is_read_and_the_meaning_says_so() -> None:
    times = ", ".join(f"at 0:{n}:00" for n in range(10, 50))
    named, _ = times_in(f"What happened {times}?", "en")
    stretches = resolve(named.forms, {VIDEO: Recording(VIDEO, "", HOUR)}, None)
    time = understood_time(named, stretches, chosen_by="figures")
    assert time.read_spans() == {VIDEO: (Span(600_000, 2_941_000),)}
    assert time.meaning.endswith("with everything between")
