"""Reading a reflection: the answer that an inspection's findings give, and whether they suffice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import INSUFFICIENT
from gpu_workers.engine.answering.looking.findings import Finding
from gpu_workers.engine.answering.parsing import ParsedAnswer, answer_schema
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.served.json_text import read_object
from gpu_workers.engine.ports import StoredFrame

MISSING_CHARACTERS = 120


def reflection_schema(choices: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema: an answer that cites findings, whether they suffice, how surely, what is missing."""
    schema = answer_schema(choices, abstain=True)
    properties = {
        **{name: value for name, value in schema["properties"].items() if name != "sufficient"},
        "sufficient": {"type": "boolean"},
        "confidence": {"type": "number"},
        "missing": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    }
    return {**schema, "properties": properties, "required": list(properties)}


def resolved(
    parsed: ParsedAnswer | None,
    text: str,
    findings: Sequence[Finding],
    context: EventContext,
) -> tuple[ParsedAnswer | None, dict[UUID, StoredFrame]]:
    """Return the reflection with event numbers in place of the findings it cites; and the first frame by event."""
    if parsed is None:
        return None, {}
    if (read_object(text) or {}).get("sufficient") is False:
        return ParsedAnswer(INSUFFICIENT, None, sufficient=False, reasoning=parsed.reasoning), {}
    cited: dict[UUID, StoredFrame] = {}
    for number in parsed.cited:
        if not 0 < number <= len(findings):
            continue
        for frame in findings[number - 1].frames:
            if frame.event_id in context.numbers:
                cited.setdefault(frame.event_id, frame)
    return replace(parsed, cited=tuple(context.numbers[event_id] for event_id in cited)), cited


def sufficient(node: AnswerNode, gate: float) -> bool:
    """Whether half of the reflections give one answer with a mean confidence of at least gate."""
    if not node.answers or node.votes[0].agreement < 0.5:
        return False
    members = node.votes[0].members
    return sum(_confidence(node.draw.texts[index]) for index in members) / len(members) >= gate


def _confidence(text: str) -> float:
    value = (read_object(text) or {}).get("confidence")
    return min(1.0, max(0.0, float(value))) if isinstance(value, (int, float)) else 0.0


def missing(text: str) -> tuple[str, ...]:
    """Return what a reflection wants another look to find."""
    value = (read_object(text) or {}).get("missing")
    items = value if isinstance(value, list) else []
    return tuple(as_data(str(item))[:MISSING_CHARACTERS] for item in items[:3] if item)
