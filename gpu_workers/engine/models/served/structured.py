"""One JSON object from a chat model: guided by a schema, validated, salvaged if it was cut, else requested again."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gpu_workers.engine.fences import UNSTORABLE, as_data
from gpu_workers.engine.models.roles import ChatModel, Message, Meter, ModelError

logger = logging.getLogger("ava.models")

Result = TypeVar("Result")
TRIES = 3
_MAX_TOKENS_CAP = 4_096


class InvalidOutput(ModelError):
    """The model gave no usable answer in TRIES tries. code: invalid_output or output_truncated."""

    def __init__(self, message: str, *, truncated: bool) -> None:
        super().__init__("output_truncated" if truncated else "invalid_output", message, retryable=False)


@dataclass(frozen=True, slots=True)
class Answered(Generic[Result]):
    """value: as read. cut: whether the answer was cut off, so that value holds only its whole parts."""

    value: Result
    cut: bool = False


# --- schemas: every list and every text is bounded, or a model that loops writes until its limit --------------------


def text_of(most: int) -> dict[str, Any]:
    """Return the schema of a text. most: characters."""
    return {"type": "string", "maxLength": most}


def list_of(items: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Return the schema of a list with at most `most` items."""
    return {"type": "array", "items": dict(items), "maxItems": most}


def object_of(properties: Mapping[str, Any], *, title: str = "") -> dict[str, Any]:
    """Return the schema of an object with exactly these properties, written in this order."""
    return {
        **({"title": title} if title else {}),
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


# --- asking ----------------------------------------------------------------------------------------------------------


def ask_object(
    model: ChatModel,
    messages: Sequence[Message],
    *,
    schema: Mapping[str, Any],
    read: Callable[[dict[str, Any]], Result],
    stage: str,
    meter: Meter,
    max_tokens: int,
) -> Answered[Result]:
    """Return read(object) for the first usable answer in at most TRIES calls.

    read raises ValueError, KeyError or TypeError for an object that it cannot use. What is whole of an answer that was
    cut off is used, with a warning in the log, if read can use it. Else the next call gets twice the room; after a
    malformed answer it names the fault. Raises InvalidOutput and the errors of model.sample.
    """
    fault, truncated = "", False
    for attempt in range(TRIES):
        conversation = [*messages]
        if fault:
            conversation.append(
                Message("user", (f"The last answer could not be used ({fault}). Answer with the JSON object only.",))
            )
        sample = model.sample(
            conversation,
            stage=stage,
            meter=meter,
            schema=schema,
            temperature=0.0 if attempt == 0 else 0.3,
            max_tokens=max_tokens,
            seed=attempt,
        )[0]
        answer = read_object(sample.text)
        cut = answer is None and sample.truncated
        try:
            if answer is None and not cut:
                raise ValueError("no JSON object in the answer")
            answer = answer or salvaged(sample.text)
            value = read(answer)
        except (ValueError, KeyError, TypeError) as error:
            truncated = sample.truncated
            if truncated:
                max_tokens = min(max_tokens * 2, _MAX_TOKENS_CAP)
            fault = "it was cut off" if truncated else f"{type(error).__name__}: {str(error)[:120]}"
            continue
        if cut:
            logger.warning("%s: an answer for %s was cut off; kept: %s", model.name, stage, ", ".join(answer))
        return Answered(value, cut)
    raise InvalidOutput(f"{model.name}: no usable answer for {stage} in {TRIES} tries: {fault}", truncated=truncated)


def storable(text: str) -> str:
    """Return text without NUL and halves of surrogate pairs: JSON can spell them, UTF-8 cannot."""
    return UNSTORABLE.sub("", text)


def clean(text: object, *, limit: int = 4_000) -> str:
    """Return text as data of a prompt (engine.fences), at most limit characters; "" for a value that is no string."""
    return as_data(text)[:limit] if isinstance(text, str) else ""


def fraction(value: object) -> float:
    """Return a number clamped to 0..1; 1.0 for a value that is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 1.0
    return min(1.0, max(0.0, float(value)))


# --- the JSON object that a model wrote, also inside prose or cut off ------------------------------------------------

_DECODER = json.JSONDecoder(strict=False)
_BEGINNING = re.compile(r'\{\s*(?=["}])')
_FIELD = re.compile(r'\s*(?:,\s*)?("(?:[^"\\]|\\.)*")\s*:\s*', re.DOTALL)
_NEXT_ITEM = re.compile(r"[\s,]*")


def read_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in text, whatever stands around it; None without a whole one, or if it is nested too deep.

    An object inside another one that cannot be read is never taken for it.
    """
    begins = _BEGINNING.search(text)
    if begins is None:
        return None
    try:
        value, _ = _DECODER.raw_decode(text, begins.start())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def salvaged(text: str) -> dict[str, Any]:
    """Return what is complete of a JSON object that was cut off: whole fields, and of a cut list its whole items."""
    begins = _BEGINNING.search(text)
    fields: dict[str, Any] = {}
    at = begins.end() if begins else len(text)
    while field := _FIELD.match(text, at):
        name = json.loads(field[1], strict=False)
        try:
            value, at = _DECODER.raw_decode(text, field.end())
        except ValueError:
            if items := _items(text, field.end()):
                fields[name] = items
            return fields
        if at == len(text) and isinstance(value, int | float):
            # Digits may be missing.
            return fields
        fields[name] = value
    return fields


def rows_of(text: str, field: str) -> list[Any]:
    """Return the items of a list in the JSON object in text, of a list that was cut off its whole items; [] without the
    list, and if the text is nested too deep to be read."""
    try:
        rows = (read_object(text) or salvaged(text)).get(field)
    except RecursionError:
        return []
    return rows if isinstance(rows, list) else []


def _items(text: str, at: int) -> list[Any]:
    """Return the whole items of the list that begins at a place in text; [] if none begins there."""
    items: list[Any] = []
    if text[at : at + 1] != "[":
        return items
    at += 1
    while at < len(text):
        gap = _NEXT_ITEM.match(text, at)
        at = gap.end() if gap else at
        try:
            value, at = _DECODER.raw_decode(text, at)
        except ValueError:
            break
        if at < len(text):
            items.append(value)
    return items
