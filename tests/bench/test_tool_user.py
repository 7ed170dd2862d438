"""The scripted reasoner of the benchmark keeps to the schema, uses what it was shown, and ends."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from jsonschema.validators import validator_for

from bench.tool_user import sensible, tireless
from gpu_workers.engine.answering.agent.conversation import finish_tool, step_schema
from gpu_workers.engine.answering.agent.frame_tools import frame_inspect
from gpu_workers.engine.answering.agent.search_tools import TOPIC_SEARCH, clip_search, global_browse
from gpu_workers.engine.answering.agent.tool import Tool
from gpu_workers.engine.answering.methods.ravu.program import program_schema, read_program
from gpu_workers.engine.answering.methods.videoagent import reflection_schema, wanted_schema
from gpu_workers.engine.answering.parsing import answer_schema

RULES = "You use tools. Events are numbered E1, E2. Times are shown as h:mm:ss."
CHOICES = ("left", "right")
TOOLS: Sequence[Tool] = (global_browse(16), clip_search(16), frame_inspect(50), TOPIC_SEARCH)
FINISH = finish_tool(CHOICES, abstain=True)


def request(schema: Mapping[str, Any], *texts: str, person: int = 1) -> dict[str, Any]:
    """Return a request: rules, then texts of user and assistant in turn."""
    opening, *others = texts or ("",)
    roles = ["user", *(["assistant", "user"] * len(others))]
    texts = (f"Where does person {person} go?\n{opening}", *others)
    messages = [{"role": "system", "content": RULES}]
    messages += [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
    return {"messages": messages, "response_format": {"json_schema": {"name": "step", "schema": schema}}}


def step(tools: Sequence[Tool], *texts: str, person: int = 1, words: Any = sensible) -> dict[str, Any]:
    schema = step_schema(tools, videos=1)
    reply: dict[str, Any] = json.loads(words(request(schema, *texts, person=person)))
    valid(reply, schema)
    call: dict[str, Any] = reply["call"]
    return call


def valid(reply: Any, schema: Mapping[str, Any]) -> None:
    """Assert that a reply keeps to a schema of ours. The schema itself is not checked each time."""
    validator_for(schema)(schema).validate(reply)


def shown(*numbers: int) -> str:
    return "\n".join(f"E{n} 0:{n:02}:00-0:{n:02}:03: someone walks" for n in numbers)


def called(tool: str) -> str:
    return json.dumps({"thought": "", "call": {"tool": tool}})


def test_it_reads_an_overview_first_and_never_finishes_before_it_has_seen_anything() -> None:
    first = [step([*TOOLS, FINISH], person=n)["tool"] for n in range(20)]
    assert first == ["global_browse"] * 20


def test_it_finishes_the_sooner_the_more_it_has_seen() -> None:
    conversation = [shown(1)]
    finished = []
    for k in range(6):
        calls = [step([*TOOLS, FINISH], *conversation, person=n) for n in range(60)]
        finished.append(sum(call["tool"] == "finish" for call in calls))
        conversation += [called("clip_search"), shown(k + 2)]
    assert finished[0] == 0
    assert finished == sorted(finished)
    assert finished[1] < finished[3] < finished[5] == 60


def test_the_tireless_one_finishes_only_when_nothing_else_is_offered() -> None:
    seen = [shown(1), *([called("clip_search"), shown(2)] * 6)]
    assert all(step([*TOOLS, FINISH], *seen, person=n, words=tireless)["tool"] != "finish" for n in range(30))
    assert step([FINISH], *seen, words=tireless)["tool"] == "finish"


def test_a_finish_cites_events_that_were_shown_to_it() -> None:
    call = step([FINISH], shown(4, 7, 9))
    assert call["evidence"] == [4, 7]
    assert step([FINISH], "")["evidence"] == []


def test_a_look_is_at_a_moment_that_was_shown() -> None:
    looks = [step([frame_inspect(50)], shown(3, 5), person=n) for n in range(20)]
    starts = {span["start_ms"] for look in looks for span in look["ranges"]}
    assert starts <= {180_000, 300_000}
    assert len(starts) == 2
    assert all(span["end_ms"] == span["start_ms"] + 3_000 for look in looks for span in look["ranges"])


def test_the_same_conversation_gets_the_same_reply_and_another_question_another() -> None:
    schema = step_schema([*TOOLS, FINISH], videos=1)
    first = sensible(request(schema, shown(1)))
    assert sensible(request(schema, shown(1))) == first
    assert len({sensible(request(schema, shown(1), person=n)) for n in range(9)}) == 9


def test_what_is_shown_changes_its_words_but_its_decision_only_by_how_much_it_is() -> None:
    longer = [shown(1).replace("someone walks", "a van parks under trees")]
    for n in range(20):
        one, other = step([*TOOLS, FINISH], shown(1), person=n), step([*TOOLS, FINISH], *longer, person=n)
        assert one["tool"] == other["tool"]


@pytest.mark.parametrize(("words", "repaired"), [(sensible, False), (tireless, True)])
def test_its_programs_can_run_at_the_latest_when_repaired(words: Any, repaired: bool) -> None:
    schema = program_schema(steps=8)
    for n in range(20):
        told = ["", "{}", "This program cannot run."] if repaired else [""]
        text = words(request(schema, *told, person=n))
        valid(json.loads(text), schema)
        assert read_program(text, steps=8)


def test_a_reflection_is_the_surer_the_more_frames_were_seen() -> None:
    def sure(frames: int, words: Any = sensible) -> int:
        lines = "\n".join(f"F{n} (E{n}) 0:00:{n:02}: someone walks" for n in range(frames))
        replies = [json.loads(words(request(reflection_schema(), lines, person=n))) for n in range(40)]
        return sum(reply["confidence"] == 3 for reply in replies)

    assert sure(5) == 0 < sure(8) < sure(11) == 40
    assert sure(11, tireless) == 0


def test_it_wants_to_see_open_segments_and_answers_by_letter() -> None:
    schema = wanted_schema([2, 5], 3)
    reply = json.loads(sensible(request(schema, "")))
    valid(reply, schema)
    answer = json.loads(sensible(request(answer_schema(CHOICES, abstain=True), shown(1, 2))))
    assert (answer["answer"], answer["evidence"]) == ("A", [1, 2])


def test_without_a_schema_it_says_yes() -> None:
    assert sensible({"messages": [{"role": "user", "content": "Is it?"}]}) == "yes"
