"""Programs that are refused before anything of them runs, whatever a model writes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpu_workers.engine.answering.methods.ravu.functions import FUNCTIONS
from gpu_workers.engine.answering.methods.ravu.program import MOST_FAULTS, BadProgram, program_schema, read_program
from tests.engine.answering.programs.small_world import as_json

FIND = {"op": "localize", "phrase": "a dog", "what": "event", "within": "", "out": "dog"}
NO_PROGRAM = 'a program is {"steps": [...]} with at least one step'


def program(*steps: Any) -> str:
    return json.dumps({"steps": steps})


def faults(text: str, **limits: Any) -> str:
    with pytest.raises(BadProgram) as raised:
        read_program(text, **limits)
    assert 0 < len(raised.value.faults) <= MOST_FAULTS
    return str(raised.value)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a = first(b)\nb = localize('dog')", "step 1: of of first: no earlier step is named 'b'"),
        ("a = first(a)", "no earlier step is named 'a'"),
        ("a = localize('dog')\na = first(a)", "step 2: a is used twice"),
        ("a = localize('dog', 'entity')\nb = first(a)", "step 2: of of first needs moments, but a is things"),
        ("a = localize('dog')\nb = track(a)", "of of track needs things, but a is moments"),
        ("a = localize('dog')\nb = after(a, most=1000000000)", "most of after must be a whole number from 1 to 10"),
        ("a = localize('dog')\nb = frames(a, 11)", "most of frames must be a whole number from 1 to 10"),
        ("a = localize('dog')\nb = frames(a, True)", "most of frames must be a whole number from 1 to 10"),
        ("a = localize('dog', what='everything')", "what of localize must be one of entity, event, frame, object"),
        ("a = localize()", "phrase of localize is missing"),
        ("a = localize('  ')", "phrase of localize is missing"),
        ("a = localize('dog', limit=3)", "localize has no argument 'limit'"),
        ("a = localize('dog')\nb = localize('cat', 'entity')\nc = union(a, b)", "two values of one type"),
        ("a = localize('dog', 'entity')", "the last step gives things"),
        ("x1234567890123456 = localize('dog')", "a name is up to 16 of a-z"),
        ("Dog = localize('dog')", "a name is up to 16 of a-z"),
    ],
)  # fmt: skip
def test_a_program_that_cannot_run_is_refused(text: str, fault: str) -> None:
    assert fault in faults(as_json(text))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (program(FIND, {"op": "__class__", "of": "dog", "out": "b"}), "there is no function '__class__'"),
        (program({**FIND, "op": ["localize"]}), "there is no function ['localize']"),
        (program({**FIND, "out": None}), "a name is up to 16 of a-z"),
        (program({**FIND, "out": "__class__"}), "a name is up to 16 of a-z"),
        (program({**FIND, "phrase": "x" * 1_000_000}), NO_PROGRAM),
        (program({**FIND, "phrase": "x" * 201}), "phrase of localize must be text of at most 200 characters"),
        (program({**FIND, "phrase": {"a": 1}}), "phrase of localize must be text"),
        (program({**FIND, "phrase": 7}), "phrase of localize must be text"),
        (program({**FIND, "within": ["dog"]}), "within of localize must be text"),
        (program({**FIND, "video_id": "secret"}), "localize has no argument 'video_id'"),
        (program(FIND, {"op": "frames", "of": "dog", "most": 2.5, "out": "b"}), "from 1 to 10"),
        (program(FIND, FIND), "step 2: dog is used twice"),
        (program(*({**FIND, "out": f"a{n}"} for n in range(200))), "the program has more than 12 steps"),
        (program(*({**FIND, "out": f"a{n}"} for n in range(5))), "localize is called more than 4 times"),
        (program(FIND, *({"op": "filter", "of": "dog", "predicate": "it barks", "out": f"f{n}"} for n in range(2))),
         "filter is called more than 1 times"),
        (program(1), "there is no function None"),
        (program(), NO_PROGRAM),
        ('{"steps": "all"}', NO_PROGRAM),
        ('{"program": []}', NO_PROGRAM),
        ('{"steps": [' + '{"op": ' * 2_000, NO_PROGRAM),
        ("a = __import__('os')", NO_PROGRAM),
        ("I do not know.", NO_PROGRAM),
        ("", NO_PROGRAM),
        ("-" * 3_000, NO_PROGRAM),
    ],
)  # fmt: skip
def test_whatever_else_a_model_writes_is_refused(text: str, fault: str) -> None:
    assert fault in faults(text)


def test_limits_of_the_effort_and_of_the_scope() -> None:
    text = as_json("a = localize('dog')\nb = first(a)\nc = frames(b)")

    assert len(read_program(text, steps=3)) == 3
    assert "more than 2 steps" in faults(text, steps=2)
    things = as_json("a = localize('dog', 'object')\nb = count(a)")
    assert read_program(things)[1].gives == "number"
    assert "what of localize must be one of entity, event" in faults(things, targets=("event", "entity"))


def test_a_fault_is_reported_once_and_not_for_what_rests_on_it() -> None:
    reported = faults(as_json("a = localize('dog', 'sky')\nb = first(a)\nc = frames(b)"))

    assert reported == "step 1: what of localize must be one of entity, event, frame, object"


def test_every_function_can_be_asked_for_with_all_its_arguments() -> None:
    shapes = program_schema(targets=("event", "entity"))["properties"]["steps"]["items"]["anyOf"]
    assert [shape["properties"]["op"]["enum"] for shape in shapes] == [[name] for name in FUNCTIONS]
    for shape in shapes:
        assert list(shape["properties"]) == shape["required"]
        assert shape["additionalProperties"] is False
    assert shapes[0]["properties"]["what"]["enum"] == ["event", "entity"], "only what the scope has"
