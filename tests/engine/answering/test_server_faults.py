"""The engine on a real HTTP server that fails, refuses or babbles at each call it makes: one test per way and stage.

Every reply that is sensible says right (the events) or up (frames, a repair); none says left, the first option.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from gpu_workers.engine.answering.contract import Answer, Budget
from gpu_workers.engine.answering.presets import SearchSettings, changed
from gpu_workers.engine.models.served.structured import storable
from tests.engine.answering.reading.test_forms import a_time
from tests.engine.answering.served import (
    ATTEMPTS,
    CHOICES,
    INSPECTING,
    LOOKING,
    QUESTION,
    STAGES,
    UNREAD,
    Served,
    chat_calls,
    failing,
    finding,
    sensible,
    settings_reaching,
    words_of,
)
from tests.engine.answering.world import reading, says
from tests.scripted_openai import Fault, Reply, rate_limited

RIGHT, UP = 1, 2
# The answer when all calls of a stage are lost: without the re-query or the repair no node says up, and frames that
# alone say up do not outvote the events; without a look the events stand. A lost verification changes no answer.
WITHOUT = {
    "read": UP, "condense": UP, "rewrite": UP, "answer": None, "requery": RIGHT, "repair": RIGHT, "check": RIGHT,
    "verify": UP, "observe": UP, "plan": RIGHT, "reflect": RIGHT,
}  # fmt: skip
# The record that notes a lost call, by its path.
NOTED = {
    "rewrite": "", "answer": "SA", "requery": "RQ", "repair": "RQ/SA", "check": "CA", "plan": "IN", "reflect": "IN",
}  # fmt: skip

BROKEN: dict[str, Fault] = {
    "dropped": Fault(drop=True),
    "rate limited": rate_limited("7"),
    "server error": Fault(500),
    "half a body": Fault(half_body=True),
    "garbage": Fault(body=b'{"choices": [{"message": '),
    "a web page": Fault(body=b"<html>Bad gateway</html>", content_type="text/html"),
    "no choices": Fault(body=b'{"id": "x", "object": "chat.completion", "choices": []}'),
}
REFUSED = {
    "refusal": Reply("", refusal="I cannot help with that."),
    "content filter": Reply("", finish_reason="content_filter"),
}


def record(answer: Answer, path: str) -> Any:
    return next(node for node in answer.nodes if node.path == path)


def is_sound(answer: Answer, served: Served) -> None:
    """Nothing is guessed, and every request is accounted for."""
    assert answer.choice in (None, RIGHT, UP)
    assert answer.text == ("" if answer.choice is None else CHOICES[answer.choice])
    assert answer.choice is not None or answer.confidence is None
    calls = chat_calls(answer)
    assert len(calls) == len(served.server.requests)
    assert answer.usage.prompt_tokens == sum(prompt for prompt, _ in served.billed)
    assert answer.usage.completion_tokens == sum(written for _, written in served.billed)


def test_a_full_run_makes_every_call() -> None:
    unread, looking = {"condense", "rewrite"}, {"plan", "reflect"}
    for settings, without in (
        (LOOKING, unread | looking), (INSPECTING, unread | {"check"}), (UNREAD, looking | {"read"})
    ):  # fmt: skip
        with Served() as served:
            answer = served.ask(settings=settings)
        assert set(served.stages) == {*STAGES} - without
        assert (answer.finish_reason, answer.choice, answer.standalone != "") == ("answered", UP, True)
        assert served.pauses == []
        is_sound(answer, served)


@pytest.mark.parametrize("stage", STAGES)
def test_a_broken_server_costs_what_was_asked_of_it_and_nothing_else(stage: str) -> None:
    for fault, broken in BROKEN.items():
        with Served(failing(stage, broken)) as served:
            answer = served.ask(settings=settings_reaching(stage))

        is_sound(answer, served)
        assert answer.choice == WITHOUT[stage], fault
        outcome = ("error", "model_unavailable") if stage == "answer" else ("answered", "")
        assert (answer.finish_reason, answer.detail) == outcome, fault
        if stage in NOTED:
            assert record(answer, NOTED[stage]).error == "model_unavailable", fault
        lost = [call for call in chat_calls(answer) if not call.ok]
        assert {call.stage for call in lost} == {stage}, fault
        assert len(lost) == len(served.asked(stage)), fault
        assert len(lost) % ATTEMPTS == 0, f"{fault}: each call is tried as often as allowed and no more"
        assert len(served.pauses) == len(lost) // ATTEMPTS, fault
        if fault == "rate limited":
            # Retry-After and a little jitter of half a second.
            assert set(served.pauses) == {7.5}


@pytest.mark.parametrize("stage", STAGES)
def test_a_fault_that_passes_is_not_noticed(stage: str) -> None:
    failed: set[str] = set()
    lock = threading.Lock()

    def script(request: Any) -> Any:
        with lock:
            first = request.schema_name == stage and stage not in failed
            failed.update({stage} if first else ())
        return Fault(drop=True) if first else sensible(request)

    with Served(script) as served:
        answer = served.ask(settings=settings_reaching(stage))

    is_sound(answer, served)
    assert (answer.finish_reason, answer.choice) == ("answered", UP)
    assert [call.ok for call in chat_calls(answer) if call.stage == stage].count(False) == 1
    assert not any(node.error for node in answer.nodes)


@pytest.mark.parametrize("stage", STAGES)
def test_a_server_that_hangs_takes_the_questions_time_and_no_more(stage: str) -> None:
    """The question's clock stands still except for the call that hangs, which is given all the time left and uses it.

    One call at a time, so that "before" and "after" the hanging call do not depend on how busy the machine is.
    """
    now = [0.0]

    def time_is_over() -> None:
        now[0] = 1_000.0

    with Served(failing(stage, Fault(hang=threading.Event())), hasty=stage) as served:
        served.chat.on_hasty = time_is_over
        settings = changed(settings_reaching(stage), in_flight=1)
        answer = served.ask(settings=settings, budget=Budget(max_seconds=1_000.0), clock=lambda: now[0])

    is_given = {limit for limit in served.chat.limits if limit is not None}
    assert is_given == {1_000.0}, "the call was given what was left of the question's time"
    assert len(is_given) == len(set(served.chat.limits)), "and so were all"
    assert answer.choice in (None, RIGHT, UP)
    assert (answer.choice is None) == (stage in ("read", "condense", "rewrite", "answer"))
    # The last call of all may be lost without a loss to the answer.
    outcome = ("answered", "") if stage == "observe" else ("budget", "max_seconds")
    assert (answer.finish_reason, answer.detail) == outcome
    hung = served.chat.begun.index(stage)
    assert set(served.chat.begun[hung:]) == {stage}, "no call was begun once the time was over"


@pytest.mark.parametrize("stage", STAGES)
def test_a_server_that_hangs_on_a_question_without_a_limit_is_given_up(stage: str) -> None:
    never = threading.Event()
    with Served(failing(stage, Fault(hang=never)), hasty=stage) as served:
        answer = served.ask(settings=settings_reaching(stage))

    assert set(served.chat.limits) == {None}
    assert answer.choice == WITHOUT[stage]
    assert (answer.finish_reason, answer.detail) == (
        ("error", "model_timeout") if stage == "answer" else ("answered", "")
    )
    if stage in NOTED:
        assert record(answer, NOTED[stage]).error == "model_timeout"


@pytest.mark.parametrize("stage", STAGES)
def test_a_refusal_is_no_answer_and_no_reason_to_ask_again(stage: str) -> None:
    for refusal, refused in REFUSED.items():
        with Served(failing(stage, refused)) as served:
            answer = served.ask(settings=settings_reaching(stage))

        is_sound(answer, served)
        assert answer.choice == WITHOUT[stage], refusal
        assert (answer.finish_reason, answer.detail) == (
            ("refused", "model_refused") if stage == "answer" else ("answered", "")
        ), refusal
        assert served.pauses == [], f"{refusal}: a refusal is no fault of the server"
        if stage in NOTED:
            assert record(answer, NOTED[stage]).error == "model_refused", refusal


# One object with the wrong thing in every field that any stage reads.
WRONG_TYPES = {
    "question": {"text": "?"}, "keywords": {"a": 1}, "entity": 5, "scene": [[]], "missing": {"a": 1},
    "sub_query": {"text": "?"}, "answer": ["B"], "reasoning": 7, "evidence": {"a": 1}, "verdict": [],
    "findings": "many", "looks": "there", "sufficient": "no", "confidence": "high",
}  # fmt: skip
WRONG_VALUES = {
    "question": " ", "keywords": "", "entity": None, "scene": "", "sub_query": "", "answer": "Z", "reasoning": "x",
    "evidence": [99], "verdict": "maybe", "findings": [5, {"statement": ""}, {"statement": "x", "frames": [99]}],
    "looks": [{"start_ms": 9, "end_ms": 3, "what_to_find": "x"}, 7], "sufficient": None, "confidence": -1,
}  # fmt: skip
MALFORMED: dict[str, Any] = {
    "prose": "Let me think about the video first.",
    "wrong types": WRONG_TYPES,
    "wrong values": WRONG_VALUES,
    "nested too deep": '{"question":' + 100_000 * "[",
    "cut off": Reply('{"reasoning": "the person in bl', finish_reason="length"),
    "a number": "7",
}
# What cannot be read is repaired where it is an answer, replaced where it is a plan, left out elsewhere.
READ_WITHOUT = {**WITHOUT, "answer": UP, "plan": UP}


@pytest.mark.parametrize("stage", STAGES)
def test_words_that_cannot_be_read_are_never_taken_for_an_answer(stage: str) -> None:
    for words, malformed in MALFORMED.items():
        with Served(failing(stage, malformed)) as served:
            answer = served.ask(settings=settings_reaching(stage))

        is_sound(answer, served)
        assert (answer.finish_reason, answer.choice) == ("answered", READ_WITHOUT[stage]), words
        if stage == "condense":
            assert answer.standalone == "", words
        if stage == "read":
            tried = len(served.asked("read")), len(served.asked("condense"))
            assert tried == (2, 1), f"{words}: asked once more, then done without"
        if stage == "requery":
            assert record(answer, "RQ").sub_queries == (), words
        if stage in ("verify", "observe"):
            assert {citation.status for citation in answer.citations} <= {"supported", "unverified"}, words
        if stage in ("rewrite", "requery", "repair", "check", "reflect"):
            error = "" if (stage, words) in READ_AS_EMPTY else "unreadable"
            assert record(answer, NOTED[stage]).error == error, words


# An object without a usable query is an object all the same: every view is asked the question itself.
READ_AS_EMPTY = {("rewrite", "wrong types"), ("rewrite", "wrong values")}


@pytest.mark.parametrize("words", [*MALFORMED, *REFUSED])
def test_without_one_readable_word_there_is_no_answer(words: str) -> None:
    reply = {**MALFORMED, **REFUSED}[words]
    with Served(lambda _: reply) as served:
        answer = served.ask()

    is_sound(answer, served)
    refused = words in REFUSED
    assert (answer.finish_reason, answer.detail) == (
        ("refused", "model_refused") if refused else ("insufficient_evidence", "unreadable")
    )
    assert (answer.choice, answer.citations) == (None, ())


NUL = "\0and \ud800half"
UNSTORABLE: dict[str, Any] = {
    "read": reading(
        f"Which way does the {NUL} person in black walk?",
        keywords=NUL,
        entity=f"person {NUL}",
        scene=NUL,
        statement=NUL,
        counted=NUL,
        topic=[NUL],
        exact=NUL,
        language="e\0",
        times=[a_time(words="way", kind="during", nth=1, event=f"person {NUL}")],
    ),
    "condense": {"question": f"Which way does the {NUL} person in black walk?"},
    "rewrite": {"keywords": NUL, "entity": f"person {NUL}", "scene": f"a person {NUL}"},
    "answer": says("C", f"the events {NUL}"),
    "requery": {"sub_query": f"what colour {NUL}", "keywords": NUL, "entity": NUL, "scene": NUL, "missing": NUL},
    "repair": says("C", NUL),
    "check": says("C\0", NUL),
    "verify": {"verdict": "supported", "why": NUL},
    "observe": {"findings": [{**finding(), "statement": f"the person {NUL} faces up"}]},
    "plan": {"looks": [{"start_ms": 0, "end_ms": 9_000_000, "what_to_find": NUL, "fps": 1, "resolution": "low"}]},
    "reflect": {**says("C", NUL), "sufficient": True, "confidence": 0.9, "missing": [NUL]},
}


@pytest.mark.parametrize(
    ("stage", "settings"), [*((stage, settings_reaching(stage)) for stage in STAGES), ("observe", INSPECTING)]
)
def test_what_no_database_can_hold_is_left_out_of_every_word(stage: str, settings: SearchSettings) -> None:
    with Served(failing(stage, UNSTORABLE[stage])) as served:
        answer = served.ask(settings=settings)

    assert served.asked(stage)
    is_sound(answer, served)
    assert (answer.finish_reason, answer.choice) == ("answered", UP)
    words = words_of(answer)
    assert words == [storable(word) for word in words]
    sent = "".join(request.text for request in served.server.requests)
    assert sent == storable(sent), "nor is it sent on to a model"


def test_an_open_answer_is_stored_without_it_too() -> None:
    spoken = {"reasoning": NUL, "sufficient": True, "answer": f"It walks {NUL} left.", "evidence": [1]}
    with Served(failing("answer", spoken)) as served:
        answer = served.ask(replace(QUESTION, choices=()))

    assert answer.text == "It walks and half left."
    assert words_of(answer) == [storable(word) for word in words_of(answer)]
