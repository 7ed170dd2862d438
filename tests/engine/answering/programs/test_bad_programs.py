"""Programs that are refused before anything of them runs, whatever a model writes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpu_workers.engine.answering.methods.ravu.checker import MOST_FAULTS, check, read_program
from gpu_workers.engine.answering.methods.ravu.program import FUNCTIONS, BadProgram, program_schema, table
from gpu_workers.engine.answering.methods.ravu.running import OPERATIONS

FIND = {"op": "localize", "phrase": "a dog", "what": "event", "within": "", "out": "dog"}


def as_json(*steps: Any) -> str:
    return json.dumps({"steps": steps})


def faults(text: str, **limits: Any) -> str:
    with pytest.raises(BadProgram) as raised:
        check(read_program(text), **limits)
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
        ("a = localize('dog')\nb = frames(a, most=-1)", "'most' of frames must be words in quotes, a whole number"),
        ("a = localize('dog')\nb = frames(a, 11)", "most of frames must be a whole number from 1 to 10"),
        ("a = localize('dog')\nb = frames(a, most=True)", "'most' of frames must be words"),
        ("a = localize('dog', what='everything')", "what of localize must be one of event, frame, entity, object"),
        ("a = localize()", "phrase of localize is missing"),
        ("a = localize('  ')", "phrase of localize must be words in quotes"),
        ("a = localize(dog)", "phrase of localize must be words in quotes"),
        ("a = localize('dog', limit=3)", "localize has no argument 'limit'"),
        ("a = localize('dog', phrase='cat')", "localize is given 'phrase' twice"),
        ("a = first('dog', 1)", "first takes 1 arguments"),
        ("a = localize(**b)", "name every argument of localize"),
        ("a = localize(*b)", "'phrase' of localize must be words in quotes"),
        ("a = localize('dog')\nb = localize('cat', 'entity')\nc = union(a, b)", "two values of one type"),
        ("a = localize('dog', 'entity')", "the last step gives things"),
        ("x1234567890123456 = localize('dog')", "a name is up to 16 of a-z"),
        ("Dog = localize('dog')", "a name is up to 16 of a-z"),
        ("a = b = localize('dog')", "each line is name = function(...)"),
        ("a, b = localize('dog')", "each line is name = function(...)"),
        ("localize('dog')", "each line is name = function(...)"),
        ("import os", "each line is name = function(...)"),
        ("a = 'dog'.upper()", "each line is name = function(...)"),
        ("a = first(localize('dog'))", "'of' of first must be words in quotes, a whole number or an earlier name"),
        ("a = __import__('os')", "there is no function '__import__'"),
        ("a = eval('1')", "there is no function 'eval'"),
        ("a = localize(f'{dog}')", "'phrase' of localize must be"),
        ("a = localize(b'dog')", "'phrase' of localize must be"),
        ("a = localize(lambda: 1)", "'phrase' of localize must be"),
        ("a = localize('dog', most=[9]*10**9)", "'most' of localize must be"),
        ("", "the program has no steps"),
        ("# nothing", "the program has no steps"),
        ("I do not know.", "the program is neither"),
        ("\0", "the program is neither"),
        ("\ud800 = localize('dog')", "the program is neither"),
        ("9" * 1_900, "each line is name = function(...)"),
        ("-" * 1_900, "the program is neither"),
        ("-" * 3_000, "a program has at most 2000 characters"),
        ("a" + ".c" * 900, "neither"),
        ("a" + ".c" * 3_000, "a program has at most 2000 characters"),
        ("(" * 1_999, "the program is neither"),
        ("x" * 1_000_000, "a program has at most 20000 characters"),
        ("\n".join(f"a{n} = localize('dog')" for n in range(21)), "20 lines"),
    ],
)  # fmt: skip
def test_text_is_refused(text: str, fault: str) -> None:
    if text.startswith("a.c"):
        # How deep the parser of a Python goes differs; whatever it says, no step comes of it.
        assert faults(text)
        return
    assert fault in faults(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (as_json(FIND, {"op": "__class__", "of": "dog", "out": "b"}), "there is no function '__class__'"),
        (as_json({**FIND, "op": ["localize"]}), 'each step is {"op"'),
        (as_json({**FIND, "out": None}), 'each step is {"op"'),
        (as_json({**FIND, "out": "__class__"}), "a name is up to 16 of a-z"),
        (as_json({**FIND, "phrase": "x" * 1_000_000}), "a program has at most 20000 characters"),
        (as_json({**FIND, "phrase": "x" * 201}), "phrase of localize has more than 200 characters"),
        (as_json({**FIND, "phrase": {"a": 1}}), "'phrase' of 'dog' must be words, a name or a whole number"),
        (as_json({**FIND, "phrase": 7}), "phrase of localize must be words in quotes"),
        (as_json({**FIND, "video_id": "secret"}), "localize has no argument 'video_id'"),
        (as_json(FIND, {"op": "frames", "of": "dog", "most": 10**9, "out": "b"}), "from 1 to 10"),
        (as_json(FIND, {"op": "frames", "of": "dog", "most": 2.5, "out": "b"}), "'most' of 'b' must be words"),
        (as_json(FIND, {"op": "frames", "of": "dog", "most": True, "out": "b"}), "'most' of 'b' must be words"),
        (as_json(FIND, FIND), "step 2: dog is used twice"),
        (as_json(*({**FIND, "out": f"a{n}"} for n in range(200))), "a program has at most 12 steps"),
        (as_json(*({**FIND, "out": f"a{n}"} for n in range(5))), "localize is called more than 4 times"),
        (as_json(FIND, *({"op": "filter", "of": "dog", "predicate": "it barks", "out": f"f{n}"} for n in range(2))),
         "filter is called more than 1 times"),
        (as_json(), "the program has no steps"),
        (as_json(1), 'each step is {"op"'),
        ('{"steps": "all"}', 'a program is {"steps": [...]}'),
        ('{"program": []}', 'a program is {"steps": [...]}'),
        ('{"a": ' + "[" * 9_000, "a program has at most 2000 characters"),
        ('{"steps": [' + '{"op": ' * 2_000, "a program has at most 2000 characters"),
    ],
)  # fmt: skip
def test_json_is_refused(text: str, fault: str) -> None:
    assert fault in faults(text)


def test_limits_of_the_effort_and_of_the_scope() -> None:
    text = "a = localize('dog')\nb = first(a)\nc = frames(b)"

    assert len(check(read_program(text), steps=3)) == 3
    assert "more than 2 steps" in faults(text, steps=2)
    things = "a = localize('dog', 'object')\nb = count(a)"
    assert check(read_program(things))[1].gives == "number"
    assert "this video has no objects" in faults(things, targets=("event", "entity"))


def test_a_fault_is_told_once_and_not_for_what_rests_on_it() -> None:
    told = faults("a = nothing('x')") + faults("a = localize('dog', 'sky')\nb = first(a)\nc = frames(b)")

    assert told.count("must be one of") == 1
    assert "no earlier step" not in told


def test_every_function_can_be_run_and_asked_for() -> None:
    assert OPERATIONS.keys() == FUNCTIONS.keys()
    for name, (_, parameters) in OPERATIONS.items():
        assert sorted(parameters) == sorted(parameter.name for parameter in FUNCTIONS[name].parameters)
    shapes = program_schema()["properties"]["steps"]["items"]["anyOf"]
    assert [shape["properties"]["op"]["enum"] for shape in shapes] == [[name] for name in FUNCTIONS]
    for shape in shapes:
        assert list(shape["properties"]) == shape["required"]
        assert shape["additionalProperties"] is False
    assert table().count("\n") == len(FUNCTIONS) - 1


def test_a_schema_offers_only_what_the_scope_has() -> None:
    (localize, *_) = program_schema(targets=("event", "entity"))["properties"]["steps"]["items"]["anyOf"]
    assert localize["properties"]["what"]["enum"] == ["event", "entity"]


def test_with_may_be_written_as_in_the_table() -> None:
    text = "a = localize('dog, with = a ball')\nb = localize('dog', 'entity')\nc = before(of=a, with=b, most=2)"
    steps = check(read_program(text))

    assert steps[0].arguments["phrase"] == "dog, with = a ball", "words in quotes stay as they are"
    assert str(steps[2].arguments["with"]) == "Ref(name='b')"
