"""Reading what a reasoner says of its own prediction, and what it wants to see next (VideoAgent, sections 3.2, 3.3)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.served.json_text import read_object
from gpu_workers.engine.models.served.structured import storable

SUFFICIENT = 3
"""Confidence that ends the search; 2 is partial information, 1 is too little."""

UNSURE = 1
"""Confidence of a reflection that cannot be read."""

DESCRIPTION_CHARACTERS = 300

_LEVEL = re.compile(r"\s*([1-3])\b(?!\s*[./]\s*\d)")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One thing to look for. segment: the number of the segment in which to look."""

    segment: int
    description: str


def reflection_schema() -> dict[str, Any]:
    properties = {"reasoning": {"type": "string"}, "confidence": {"type": "integer", "enum": [1, 2, SUFFICIENT]}}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_confidence(text: str) -> int | None:
    """Return 1, 2 or 3; None if the reflection does not say, or says something else."""
    value = (read_object(text) or {}).get("confidence")
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return value if value in (1, 2, SUFFICIENT) else None
    match = _LEVEL.match(value) if isinstance(value, str) else None
    return int(match.group(1)) if match else None


def wanted_schema(segments: Sequence[int], most: int) -> dict[str, Any]:
    """Return the schema of a list of at most most items in these segments."""
    fields = {"segment": {"type": "integer", "enum": list(segments)}, "description": {"type": "string"}}
    item = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    properties = {"missing": {"type": "string"}, "items": {"type": "array", "items": item, "maxItems": most}}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_wanted(text: str, segments: Collection[int], most: int) -> list[Wanted] | None:
    """Return what a reply wants to see, at most most things, each once; None if the reply cannot be read.

    A thing in no open segment or without words is left out.
    """
    items = (read_object(text) or {}).get("items")
    if not isinstance(items, list):
        return None
    wanted = [_wanted(item) for item in items if isinstance(item, dict)]
    return list(dict.fromkeys(item for item in wanted if item is not None and item.segment in segments))[:most]


def _wanted(item: dict[str, Any]) -> Wanted | None:
    segment, description = item.get("segment"), item.get("description")
    if isinstance(segment, str) and segment.strip().isdecimal():
        segment = int(segment)
    if isinstance(segment, bool) or not isinstance(segment, int) or not isinstance(description, str):
        return None
    words = as_data(storable(description))[:DESCRIPTION_CHARACTERS]
    return Wanted(segment, words) if words else None
