"""Route `whole` in the language of the question: asked for in the prompt, and rewritten where it is not kept."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, QuestionInput
from gpu_workers.engine.answering.ending.language import BATCH_TEXTS, OTHER_LANGUAGE
from gpu_workers.engine.ekg import Overview
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.calibration import UNMEASURED, Calibration
from tests.engine.answering.routes.test_whole import kitchen
from tests.engine.answering.routes.test_whole_checked import many_topics
from tests.engine.answering.world import EMBEDDED, Request, ScriptedReasoner, models, says

GERMAN = "Worum geht es in diesem Video? Fasse bitte alles zusammen."
IN_GERMAN = {
    "A day at home. 4 Themen, der Reihe nach:": "Ein ganzer Tag zu Hause in der Wohnung. 4 Themen, der Reihe nach:",
    "Baking a cake": "Jemand backt einen Kuchen in der Küche",
    "Washing the dishes": "Jemand spült danach das schmutzige Geschirr",
    "A talk about trains": "Ein Gespräch über die alten Züge",
    "Packing the car": "Jemand packt am Ende das Auto",
}


def german(request: Request) -> Any:
    """Translate by the table, or any other text to a German sentence of its own."""
    if request.stage == "translate":
        return {"texts": ["What is this video about? Please summarise all of it."]}
    if request.stage == "answer_language":
        data = request.text.split("<text>\n")[-1].split("\n</text>")[0]
        lines = [line.split(". ", 1)[1] for line in data.splitlines()]
        return {"texts": [IN_GERMAN.get(line, f"Dieser Satz steht für {len(line)} Zeichen") for line in lines]}
    return {"items": []} if request.stage == "whole" else says("searched")


def ask(
    video: MemoryVideo, script: Any = german, *, calibration: Calibration = EMBEDDED, question: str = GERMAN
) -> tuple[Answer, ScriptedReasoner]:
    reasoner = ScriptedReasoner(script)
    asked = QuestionInput(question, language="de", route="whole")
    return answer_question(asked, InMemoryGraph([video]), models(reasoner, calibration=calibration)), reasoner


def test_topics_come_in_the_language_of_the_question() -> None:
    answer, reasoner = ask(kitchen())
    assert answer.degraded == ()
    assert answer.text == (
        "Ein ganzer Tag zu Hause in der Wohnung. 4 Themen, der Reihe nach: "
        "Jemand backt einen Kuchen in der Küche (0:00:00); Jemand spült danach das schmutzige Geschirr (0:00:30); "
        "Ein Gespräch über die alten Züge (0:01:00); Jemand packt am Ende das Auto (0:01:30)."
    )
    assert [claim.text for claim in answer.claims] == list(IN_GERMAN.values())[1:]
    assert [part.text for part in answer.parts] == [claim.text for claim in answer.claims]
    assert len(reasoner.asked("answer_language")) == 1


def test_more_topics_than_a_line_holds_are_rewritten_in_batches() -> None:
    video = many_topics(59, title="A long talk about the history of trains")
    answer, reasoner = ask(video)
    requests = reasoner.asked("answer_language")
    assert len(requests) > 1
    assert all(len(re.findall(r"^\d+\. ", request.text, re.MULTILINE)) <= BATCH_TEXTS for request in requests)
    assert "trains" not in answer.text
    assert not any("trains" in claim.text for claim in answer.claims)
    assert answer.text.count(" (0:") == 59, "the times stand where they stood"
    assert answer.degraded == ()


def test_an_overview_longer_than_a_line_is_rewritten_in_pieces() -> None:
    long = " ".join(f"Somebody bakes cake number {n} and puts it on the table in the kitchen." for n in range(10))
    video = replace(kitchen(), overview=Overview(long, (), (), 120_000, "narrator"))
    answer, _ = ask(video)
    assert "Somebody" not in answer.text
    assert answer.degraded == ()


def test_a_failed_batch_leaves_the_answer_and_says_so() -> None:
    calls: list[int] = []

    def fails(request: Request) -> Any:
        if request.stage == "answer_language":
            calls.append(1)
            return german(request) if len(calls) == 1 else "no JSON"
        return german(request)

    answer, _ = ask(many_topics(59, title="A long talk about the history of trains"), fails)
    assert "A long talk about the history of trains 5 (0:00:15)" in answer.text
    assert OTHER_LANGUAGE in answer.degraded


def test_the_reasoner_is_asked_to_write_in_the_language() -> None:
    def writes(request: Request) -> Any:
        items = [{"text": text, "parts": [n]} for n, text in enumerate(list(IN_GERMAN.values())[1:], start=1)]
        return {"items": items} if request.stage == "whole" else german(request)

    answer, reasoner = ask(kitchen(), writes, calibration=UNMEASURED)
    (request,) = reasoner.asked("whole")
    assert "Name the numbers of the parts that each item rests on. Write the answer in German.\n" in request.text
    assert reasoner.asked("answer_language") == []
    assert answer.text == " ".join(f"{text}." for text in list(IN_GERMAN.values())[1:])


@pytest.mark.parametrize("question", ["Gib mir eine Tabelle", "Liste alle Schritte auf"])
def test_tables_and_steps_are_rewritten_where_they_stand(question: str) -> None:
    answer, _ = ask(kitchen(), question=question)
    assert "cake" not in answer.text
    for text in list(IN_GERMAN.values())[1:]:
        assert text in answer.text
