"""Reading a model's answer: its JSON schema, a strict reading, a tolerant one; never a default."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_workers.engine.answering.contract import INSUFFICIENT
from gpu_workers.engine.languages.words import plain
from gpu_workers.engine.models.served.structured import list_of, object_of, read_object, storable

ALTERNATIVES = 20
"""Number of likely first tokens that are requested; OpenAI's protocol returns no more."""

LEAST_MASS = 0.1
"""Minimum probability mass on yes and no. Below it the model answered something else, so its odds are meaningless."""


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The answer of one sample. choice: index, None for an open question. sufficient False: the model abstains, and
    text is then INSUFFICIENT. cited: event numbers as written, not yet checked against the prompt. language: ISO 639-1
    code of the language that text was asked for in, "" for English. withheld: the answer that was written next to an
    abstention, "" if there is none."""

    text: str
    choice: int | None
    sufficient: bool
    reasoning: str = ""
    cited: tuple[int, ...] = ()
    language: str = ""
    withheld: str = ""


def letter(index: int) -> str:
    return chr(ord("A") + index)


def answer_schema(choices: Sequence[str], *, abstain: bool) -> dict[str, Any]:
    """Return the JSON schema of one sample. Properties are written in order: the reasoning precedes the answer."""
    properties: dict[str, Any] = {"reasoning": {"type": "string"}}
    if choices:
        letters = [letter(index) for index in range(len(choices))]
        properties["answer"] = {"type": "string", "enum": [*letters, INSUFFICIENT] if abstain else letters}
    else:
        if abstain:
            properties["sufficient"] = {"type": "boolean"}
        properties["answer"] = {"type": "string"}
    properties["evidence"] = list_of({"type": "integer"}, 8)
    return object_of(properties)


def parse_answer(text: str, choices: Sequence[str]) -> ParsedAnswer | None:
    """Return the sample's answer, or None if it cannot be read with certainty."""
    fields = read_object(text)
    if fields is not None:
        return _from_fields(fields, choices)
    match = _ANSWER_FIELD.search(text)
    if match:
        return _from_fields({"answer": _unquote(match.group(1)), "reasoning": _reasoning_of(text)}, choices)
    if not choices:
        return None
    spoken = _ANSWER_PHRASE.findall(text)
    for candidate in [*reversed(spoken), text]:
        answer = _read_choice(candidate, choices)
        if answer is not None:
            return answer
    return None


_ANSWER_FIELD = re.compile(r'"answer"\s*:\s*("(?:[^"\\]|\\.)*")', re.IGNORECASE)
_REASONING_FIELD = re.compile(r'"reasoning"\s*:\s*("(?:[^"\\]|\\.)*")', re.IGNORECASE)
_ANSWER_PHRASE = re.compile(r"(?:final answer|answer|option|choice)\s*(?:is|:)\s*([^\n]+)", re.IGNORECASE)
_LETTER = re.compile(r"^[(\[]?\s*([A-Za-z])\s*[)\].:,]*$")
_LETTER_THEN_TEXT = re.compile(r"^[(\[]?([A-Za-z])[)\].:]+\s*(\S.*)$", re.DOTALL)
_ABSTENTION = re.compile(r"^\W*(insufficient|not enough|cannot (be )?(determined?|answer(ed)?|tell))\b", re.IGNORECASE)


def _from_fields(fields: Mapping[str, Any], choices: Sequence[str]) -> ParsedAnswer | None:
    lowered = {str(key).lower(): value for key, value in fields.items()}
    reasoning = storable(str(lowered.get("reasoning") or "")).strip()
    cited = event_numbers(lowered.get("evidence"))
    raw = lowered.get("answer")
    if raw is None or isinstance(raw, (dict, list)):
        return None
    if isinstance(raw, bool):
        raw = "yes" if raw else "no"
    answer = storable(str(raw)).strip()
    withheld = ""
    if choices:
        parsed = _read_choice(answer, choices)
    elif answer.lower() == INSUFFICIENT or _ABSTENTION.match(answer):
        parsed = ParsedAnswer(INSUFFICIENT, None, sufficient=False)
    elif lowered.get("sufficient") is False:
        parsed, withheld = ParsedAnswer(INSUFFICIENT, None, sufficient=False), answer
    else:
        parsed = ParsedAnswer(answer, None, sufficient=True) if answer else None
    if parsed is None:
        return None
    return ParsedAnswer(parsed.text, parsed.choice, parsed.sufficient, reasoning, cited, withheld=withheld)


def _read_choice(raw: str, choices: Sequence[str]) -> ParsedAnswer | None:
    """Read A, a, A., (A), "A. text" or the option's text; None when it fits no option or more than one."""
    text = raw.strip().strip("\"'*`").strip()
    if text.lower().rstrip(".") == INSUFFICIENT or _ABSTENTION.match(text):
        return ParsedAnswer(INSUFFICIENT, None, sufficient=False)
    if (match := _LETTER.match(text)) and (index := _index(match.group(1))) < len(choices):
        return _choice(index, choices)
    by_text = [index for index, choice in enumerate(choices) if plain(choice) == plain(text)]
    if len(by_text) == 1:
        return _choice(by_text[0], choices)
    if match := _LETTER_THEN_TEXT.match(text):
        index, rest = _index(match.group(1)), plain(match.group(2))
        named = [other for other, choice in enumerate(choices) if rest and plain(choice) == rest]
        # A letter with another option's words names two options: no vote.
        if index < len(choices) and named in ([], [index]):
            return _choice(index, choices)
        return None
    held = [index for index, choice in enumerate(choices) if _holds(text, choice)]
    return _choice(held[0], choices) if len(held) == 1 else None


def _choice(index: int, choices: Sequence[str]) -> ParsedAnswer:
    return ParsedAnswer(choices[index], index, sufficient=True)


def _index(character: str) -> int:
    return ord(character.upper()) - ord("A")


def _holds(text: str, choice: str) -> bool:
    words = plain(choice)
    return bool(words) and len(words) > 1 and f" {words} " in f" {plain(text)} "


def event_numbers(value: Any) -> tuple[int, ...]:
    """Return the event numbers of [2, "E5"], "E2, E5" or 2, each once, in order."""
    items = value if isinstance(value, list) else [value]
    numbers = [int(digits) for item in items for digits in re.findall(r"(?<![-\d.])\d{1,6}", str(item))]
    return tuple(dict.fromkeys(numbers))


def indices_of(value: object, most: int) -> list[int]:
    """Return the numbers 1 to most of a list as indices, each once, in order; other items are dropped."""
    items = value if isinstance(value, list) else []
    numbers = [item for item in items if isinstance(item, int) and not isinstance(item, bool)]
    return [number - 1 for number in dict.fromkeys(numbers) if 1 <= number <= most]


def _unquote(quoted: str) -> str:
    try:
        return str(json.loads(quoted, strict=False))
    except ValueError:
        return quoted.strip('"')


def _reasoning_of(text: str) -> str:
    match = _REASONING_FIELD.search(text)
    return _unquote(match.group(1)) if match else ""


def log_odds(first: Mapping[str, float]) -> float | None:
    """Return the log-odds of yes against no from the log-probabilities of first tokens; None if neither is likely."""
    mass = {"yes": 1e-6, "no": 1e-6}
    for token, value in first.items():
        word = token.strip().lower()
        if word in mass:
            mass[word] += math.exp(value)
    return math.log(mass["yes"] / mass["no"]) if sum(mass.values()) >= LEAST_MASS else None
