"""Reading answers: which text counts as a vote. An answer that cannot be read is never guessed."""

from __future__ import annotations

import json

import pytest

from gpu_workers.engine.answering.parsing import answer_schema, parse_answer

CHOICES = ("a red car", "a blue car", "no car at all")


@pytest.mark.parametrize(
    "written",
    ["B", "b", "B.", "(B)", "(b)", "[B]", "B)", "B:", " B ", "B. a blue car", "a blue car", "A blue car.", '"B"'],
)
def test_it_reads_a_choice_in_any_common_form(written: str) -> None:
    parsed = parse_answer(json.dumps({"reasoning": "r", "answer": written, "evidence": [1]}), CHOICES)

    assert parsed is not None
    assert (parsed.choice, parsed.text, parsed.sufficient) == (1, "a blue car", True)


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"reasoning": "r", "answer": "B", "evidence": []}\n```',
        'Sure! {"answer": "B"} I hope this helps.',
        '{"reasoning": "two\nlines", "answer": "B"}',
        '{"reasoning": "r", "answer": "B", "evidence": [1, 2',
        "I looked at all events. The answer is (B).",
        "Answer: B",
        "B",
        "It was a blue car that passed.",
    ],
)
def test_it_reads_a_choice_out_of_broken_replies(text: str) -> None:
    parsed = parse_answer(text, CHOICES)

    assert parsed is not None
    assert parsed.choice == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        '{"answer": null}',
        '{"answer": ["A", "B"]}',
        '{"answer": "D"}',
        '{"answer": "A. a blue car"}',
        '{"answer": "a red car or a blue car"}',
        '{"reasoning": "A person walks',
        "A dog runs.",
        "I am not sure what you mean",
    ],
)
def test_it_abstains_where_no_choice_can_be_read(text: str) -> None:
    assert parse_answer(text, CHOICES) is None


@pytest.mark.parametrize("written", ["insufficient", "Insufficient.", "not enough information", "cannot be determined"])
def test_abstention_is_an_answer_of_its_own(written: str) -> None:
    for choices in (CHOICES, ()):
        parsed = parse_answer(json.dumps({"answer": written}), choices)
        assert parsed is not None
        assert (parsed.choice, parsed.sufficient) == (None, False)


def test_26_choices_reach_to_z() -> None:
    choices = tuple(f"option {n}" for n in range(26))

    parsed = parse_answer('{"answer": "z"}', choices)

    assert parsed is not None
    assert parsed.choice == 25
    assert answer_schema(choices, abstain=True)["properties"]["answer"]["enum"][-2:] == ["Z", "insufficient"]


def test_an_open_answer_is_its_text_unless_the_model_says_it_does_not_suffice() -> None:
    good = parse_answer('{"reasoning": "r", "sufficient": true, "answer": "A dog.", "evidence": ["E2", 3, 3]}', ())
    poor = parse_answer('{"reasoning": "r", "sufficient": false, "answer": "A dog."}', ())

    assert good is not None
    assert poor is not None
    assert (good.text, good.cited) == ("A dog.", (2, 3))
    assert not poor.sufficient


def test_prose_is_no_open_answer() -> None:
    assert parse_answer("The video shows many things.", ()) is None


def test_without_abstention_the_schema_has_letters_only() -> None:
    assert answer_schema(("x", "y"), abstain=False)["properties"]["answer"]["enum"] == ["A", "B"]
    assert "sufficient" not in answer_schema((), abstain=False)["properties"]


def test_an_answer_can_be_stored_whatever_its_json_spells() -> None:
    parsed = parse_answer(r'{"answer": "a red\u0000 car\ud83d", "reasoning": "E1\u0000", "evidence": [1]}', [])
    assert parsed is not None
    assert (parsed.text, parsed.reasoning) == ("a red car", "E1")
