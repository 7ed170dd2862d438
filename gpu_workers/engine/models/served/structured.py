"""One JSON object out of a chat model: schema-guided, validated, asked again when it is not usable."""

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
    """The model answered, but not with what was asked for, TRIES times. code: invalid_output or output_truncated."""

    def __init__(self, message: str, *, truncated: bool) -> None:
        super().__init__("output_truncated" if truncated else "invalid_output", message, retryable=False)


def parse_object(text: str) -> dict[str, Any]:
    """The first JSON object inside text; fences and prose around it are ignored. Raises ValueError without one."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            found, _ = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            at = text.find("{", at + 1)
            continue
        if isinstance(found, dict):
            return found
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
    """read(object) of the first usable answer in at most TRIES calls.

    read raises ValueError, KeyError or TypeError for an object that it cannot use. A truncated answer is asked for
    again with twice the room; a malformed one with a word about the fault. Raises InvalidOutput,
    or what model.sample raises.
    """
    fault, truncated = "", False
    for attempt in range(TRIES):
        asked = [*messages]
        if fault:
            asked.append(
                Message("user", (f"The last answer could not be used ({fault}). Answer with the JSON object only.",))
            )
        sample = model.sample(
            asked,
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
    """text without NUL and halves of surrogate pairs: JSON can spell them, UTF-8 and databases cannot hold them."""
    return _UNSTORABLE.sub("", text)


def clean(text: object, *, limit: int = 4_000) -> str:
    """text on one line, storable, at most limit characters; "" for what is no string."""
    return " ".join(storable(text).split())[:limit] if isinstance(text, str) else ""


def fraction(value: object) -> float:
    """A number clamped to 0..1; 1.0 for what is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 1.0
    return min(1.0, max(0.0, float(value)))
