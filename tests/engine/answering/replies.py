"""Replies that any schema allows: a model that knows no method, and answers each as it is asked to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.scripted_openai import ScriptedRequest

WORDS = ("the boy with the ball", "a dog runs", "orange juice", "the girl at the gate")
WHOLE = (1, 2, 0, 4)


def filled(schema: Mapping[str, Any], n: int, *, words: Sequence[str] = WORDS, whole: Sequence[int] = WHOLE) -> Any:
    """Return a value that schema allows. n: chooses among what is allowed."""
    if "enum" in schema:
        return schema["enum"][n % len(schema["enum"])]
    if "anyOf" in schema:
        return filled(schema["anyOf"][n % len(schema["anyOf"])], n // len(schema["anyOf"]), words=words, whole=whole)
    kind = schema.get("type")
    if kind == "object":
        value = {
            name: filled(inner, n + place, words=words, whole=whole)
            for place, (name, inner) in enumerate(schema.get("properties", {}).items())
        }
        if {"start_ms", "end_ms"} <= set(value) and whole is WHOLE:
            value |= {"start_ms": 3_000 * (n % 5), "end_ms": 3_000 * (n % 5) + 6_000}
        return value
    if kind == "array":
        count = min(2, schema.get("maxItems", 2))
        return [filled(schema["items"], n + place, words=words, whole=whole) for place in range(count)]
    if kind == "string":
        return words[n % len(words)][: schema.get("maxLength", 1_000)]
    return {"integer": whole[n % len(whole)], "number": 0.9, "boolean": True}[kind or "boolean"]


def by_schema(
    choose: Callable[[ScriptedRequest], int] = lambda request: request.index,
    *,
    words: Sequence[str] = WORDS,
    whole: Sequence[int] = WHOLE,
    decided: bool = False,
) -> Callable[[ScriptedRequest], Any]:
    """Return a model that fills in what it is asked for. choose: a number per request, which chooses the reply.
    decided: whether it gives the first choice wherever it answers the question."""

    def script(request: ScriptedRequest) -> Any:
        if request.schema is None:
            return "yes"
        if decided and {"reasoning", "answer"} <= set(request.schema.get("properties", {})):
            return [filled(request.schema, 0, words=words, whole=whole)] * request.n
        return [filled(request.schema, choose(request) + k, words=words, whole=whole) for k in range(request.n)]

    return script
