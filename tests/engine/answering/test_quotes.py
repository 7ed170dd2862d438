"""Words in quotation marks are read from the question, and narrow what retrieval returns."""

from __future__ import annotations

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.models.roles import Meter
from gpu_workers.engine.retrieval.quotation import quoted
from gpu_workers.engine.retrieval.tri_view import HYBRID, RetrievalSettings, Retrieved, ViewQueries, retrieve
from tests.engine.answering.world import STREET, ScriptedEmbedder, event_id, models, says, scripted, street


def find(text: str, settings: RetrievalSettings, *exact: str) -> Retrieved:
    embedder = ScriptedEmbedder()
    return retrieve(
        street(),
        ViewQueries.same(text),
        settings,
        text_embedder=embedder,
        frame_embedder=embedder,
        meter=Meter(),
        exact=exact,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Who says "open the gate"?', ("open the gate",)),
        ("Wo steht „Ausgang“ und «Sortie»?", ("Ausgang", "Sortie")),
        ("It's the dogs' food", ()),
        ('An open " mark', ()),
        ('"" and "…"', ()),
    ],
)
def test_quotation_marks_quote(text: str, expected: tuple[str, ...]) -> None:
    assert quoted(text)[1] == expected


def test_only_events_with_the_quoted_words_are_returned() -> None:
    words = " ".join(STREET[4].split()[:2])
    having = {event_id(n) for n, text in enumerate(STREET) if words.casefold() in text.casefold()}
    found = find("what happens", RetrievalSettings(graph_events=0), words.upper())
    assert {event.event_id for event in found.ranking} == having != set()
    # If nothing contains the words, the other views are all that there is to go by.
    assert find(STREET[4], RetrievalSettings(graph_events=0), "never said").ranking != ()


@pytest.mark.parametrize(
    ("question", "notes"),
    [
        ('Who says "never said" there?', ['No event has exactly "never said"; it was searched by meaning.']),
        ('What about "a dog runs" here?', []),
        ("What about the dog here?", []),
    ],
)
def test_an_answer_says_that_no_event_has_the_quoted_words(question: str, notes: list[str]) -> None:
    reasoner = scripted(says("a dog"))
    answer = answer_question(QuestionInput(question, route="search"), street(), models(reasoner))
    assert answer.text == "a dog"
    assert [note for note in answer.notes if "exactly" in note] == notes


def test_a_question_that_names_nothing_literally_reads_no_words() -> None:
    def views(text: str, settings: RetrievalSettings) -> set[str]:
        return {hit.view for event in find(text, settings).ranking for hit in event.reasons}

    plain = STREET[4].lower().rstrip(".")
    assert "words" not in views(plain, RetrievalSettings())
    assert "words" in views(plain, HYBRID)
    assert "words" not in views(plain, RetrievalSettings(words=0, always_words=True))
