"""Whether something is always so: what says so, what says otherwise, and that silence proves nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from gpu_workers.engine.answering.routes.always import otherwise_statement, says_otherwise

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, QuestionInput
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import UNMEASURED, Calibration
from tests.engine.answering.routes.test_scan import listed, odds
from tests.engine.answering.routes.test_scan_limits import with_gaps
from tests.engine.answering.world import EMBEDDED, Request, ScriptedReasoner, event_id, make_video, models, says

CLOSED = ["the gate is closed", "a man walks past the closed gate", "the gate is closed, rain falls"]
OPENED = ["the gate is closed", "the gate is open", "a dog sleeps", "a woman opens the gate and walks in"]
ALWAYS = "Is the gate always closed?"


def careful(request: Request) -> Any:
    """Judge both statements about the gate by what the events say."""
    if request.stage != "scan":
        return says("the search was made")
    wanted = "open" if otherwise_statement("the gate closed") in request.text else "closed"
    true = [number for number, text in listed(request).items() if wanted in text]
    return {"true": true, "false": [number for number in listed(request) if number not in true]}


def ask(
    events: list[str],
    question: str = ALWAYS,
    script: Callable[[Request], Any] = careful,
    *,
    calibration: Calibration = UNMEASURED,
    gaps: tuple[int, ...] = (),
    **wishes: Any,
) -> tuple[Answer, list[Request]]:
    reasoner = ScriptedReasoner(script)
    graph = InMemoryGraph([with_gaps(make_video(events), gaps)])
    answer = answer_question(QuestionInput(question, **wishes), graph, models(reasoner, calibration=calibration))
    return answer, reasoner.asked("scan")


@pytest.mark.parametrize("calibration", [UNMEASURED, EMBEDDED])
def test_moments_that_are_otherwise_are_named_and_cited(calibration: Calibration) -> None:
    answer, _ = ask(OPENED, calibration=calibration)
    assert answer.text == "Not always. It is otherwise at least 2 times: 0:00:03, 0:00:09."
    assert [citation.event_id for citation in answer.citations] == [event_id(1), event_id(3)]
    assert answer.claims[0].status == "supported"
    assert answer.understood["always"] is True
    assert answer.understood["predicate"] == "the gate closed"


@pytest.mark.parametrize("calibration", [UNMEASURED, EMBEDDED])
def test_if_every_event_says_so_it_is_always_so(calibration: Calibration) -> None:
    answer, requests = ask(CLOSED, calibration=calibration)
    assert answer.text == "Yes, always: all 3 events say so."
    assert len(answer.citations) == 1, "events that follow each other are one time"
    if calibration is UNMEASURED:
        assert len(requests) == 2, "the statement and what speaks against it are judged over the same events"


@pytest.mark.parametrize("calibration", [UNMEASURED, EMBEDDED])
def test_silence_proves_nothing(calibration: Calibration) -> None:
    answer, _ = ask([*CLOSED, "a dog sleeps"], calibration=calibration)
    assert answer.text == "As far as is known: 3 of 4 events say so, and none says otherwise."


def test_what_could_not_be_described_is_said() -> None:
    answer, _ = ask([*CLOSED, "0:00:09 to 0:00:12 could not be described: model_refused"], gaps=(3,))
    assert answer.text == (
        "As far as is known: 3 of 4 events say so, and none says otherwise. 0:00:03 could not be described."
    )
    assert answer.signals["read"] == 0.75


def test_a_question_about_which_no_event_says_anything_is_searched_for() -> None:
    answer, _ = ask(["a dog sleeps", "a cat eats"])
    assert answer.signals.get("head") != "scan"


def test_a_small_reasoners_yes_is_not_enough_for_always() -> None:
    """The embedded reasoner takes every fifth event of a camera that stands still for one of a camera that moves."""
    events = ["one person in view, take 1", "two persons in view, take 2"]
    answer, requests = ask(events, "Does the camera always move?", lambda _: odds(3.0), calibration=EMBEDDED)
    assert requests == []
    assert answer.signals.get("head") != "scan"


def test_it_is_answered_in_the_language_of_the_question() -> None:
    german, _ = ask(OPENED, ALWAYS, language="de")
    assert german.text == "Nicht immer. Anders ist es mindestens 2 Mal: 0:00:03, 0:00:09."


@pytest.mark.parametrize(
    ("statement", "text", "otherwise"),
    [
        ("the gate closed", "The gate is open", True),
        ("the gate closed", "A man opens the gate and walks in", True),
        ("the gate closed", "The gate is not closed", True),
        ("the gate closed", "The gate is closed", False),
        ("the gate closed", "A door is open", False),
        ("the gate closed", "There is no gate", False),
        ("the gate closed", "A man opens the door near the gate", False),
        ("the gate closed", "The gate is slowly opened", True),
        ("the worker wear a helmet", "A worker without a vest wears a helmet", False),
        ("the workers wear helmets", "A worker does not wear a helmet", True),
        ("the light green", "A red car stops at the light", False),
        ("the guard wear a helmet", "The guard wears no helmet", True),
        ("the guard wear a helmet", "A man without a helmet walks past the guard", False),
        ("the workers wear helmets", "The workers wear helmets, not caps", False),
        ("someone at the toolbox", "Nobody is at the toolbox", True),
        ("someone at the toolbox", "The toolbox is empty", True),
        ("someone at the toolbox", "A woman sits at the toolbox", False),
        ("the light green", "The light turns red", True),
        ("the light green", "The light is green, a red car stops", False),
        ("two guards", "One guard stands at the door", True),
        ("the light on", "She turns off the light", True),
        ("the dog inside", "The dog runs outside", True),
        ("a person in the room", "No person, animal or vehicle is detected. Nothing moves.", True),
        ("someone in the room", "No person, animal or vehicle is detected.", True),
        ("a dog in the yard", "No person, animal or vehicle is detected.", True),
        ("two cars in the yard", "No vehicle is in view.", True),
        ("a chair in the room", "No person, animal or vehicle is detected.", False),
        ("the guard wear a helmet", "No person, animal or vehicle is detected.", False),
        ("someone in the room", "One person in view. A person stands.", False),
        ("the dog on the sofa", "The dog lies on the sofa; the radio is off", False),
    ],
)
def test_words_say_what_speaks_against_a_statement(statement: str, text: str, otherwise: bool) -> None:
    assert says_otherwise(statement, text) is otherwise
