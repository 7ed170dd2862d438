"""One JSON object from a chat model: guided by a schema, validated, requested again if it is not usable."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from gpu_workers.engine.models.roles import ChatModel, Message, Meter, ModelError

Result = TypeVar("Result")
TRIES = 3
_MAX_TOKENS_CAP = 4_096
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class InvalidOutput(ModelError):
    """The model gave no usable answer in TRIES tries. code: invalid_output or output_truncated."""

    def __init__(self, message: str, *, truncated: bool) -> None:
        super().__init__("output_truncated" if truncated else "invalid_output", message, retryable=False)


def parse_object(text: str) -> dict[str, Any]:
    """Return the first JSON object inside text; text around it is ignored. Raises ValueError without one."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, _ = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            at = text.find("{", at + 1)
            continue
        if isinstance(value, dict):
            return value
        at = text.find("{", at + 1)
    raise ValueError("no JSON object in the answer")


def ask_object(
    model: ChatModel,
    messages: Sequence[Message],
    *,
    schema: Mapping[str, Any],
    read: Callable[[dict[str, Any]], Result],
    stage: str,
    meter: Meter,
    max_tokens: int,
    temperature: float = 0.0,
) -> Result:
    """Return read(object) for the first usable answer in at most TRIES calls.

    read raises ValueError, KeyError or TypeError for an object that it cannot use. After a truncated answer the next
    call gets twice the room; after a malformed one it names the fault. Raises InvalidOutput and the errors of
    model.sample.
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
            temperature=temperature if attempt == 0 else max(temperature, 0.3),
            max_tokens=max_tokens,
            seed=attempt,
        )[0]
        try:
            return read(parse_object(sample.text))
        except (ValueError, KeyError, TypeError) as error:
            truncated = sample.truncated
            if truncated:
                max_tokens = min(max_tokens * 2, _MAX_TOKENS_CAP)
            fault = "it was cut off" if truncated else f"{type(error).__name__}: {str(error)[:120]}"
    raise InvalidOutput(f"{model.name}: no usable answer for {stage} in {TRIES} tries: {fault}", truncated=truncated)


def storable(text: str) -> str:
    """Return text without NUL and halves of surrogate pairs: JSON can spell them, UTF-8 cannot."""
    return _UNSTORABLE.sub("", text)


def clean(text: object, *, limit: int = 4_000) -> str:
    """Return text on one line, storable, at most limit characters; "" for a value that is no string."""
    return " ".join(storable(text).split())[:limit] if isinstance(text, str) else ""


def fraction(value: object) -> float:
    """Return a number clamped to 0..1; 1.0 for a value that is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 1.0
    return min(1.0, max(0.0, float(value)))
