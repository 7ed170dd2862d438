"""Findings of looks at frames: statements with time, frames and bearing, in one list that only grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from gpu_workers.engine.answering.looking.looks import Look
from gpu_workers.engine.answering.parsing import indices_of
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock_span
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.served.json_text import read_object
from gpu_workers.engine.models.served.structured import storable
from gpu_workers.engine.ports import StoredFrame

Bearing = Literal["supports", "contradicts", "none"]
BEARINGS: Mapping[str, Bearing] = {"supports": "supports", "contradicts": "contradicts", "none": "none"}
MAX_FINDINGS = 4
STATEMENT_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that frames show. bearing: whether it supports or contradicts the statement under test at the time."""

    video_id: UUID
    span: Span
    statement: str
    bearing: Bearing
    frames: tuple[StoredFrame, ...]

    def in_words(self, hypothesis: str) -> str:
        """Return the finding in words, for prompts and for the record."""
        bearing = f" ({self.bearing}: {hypothesis})" if hypothesis and self.bearing != "none" else ""
        return f"{clock_span(self.span)} {self.statement}{bearing}"


def findings_schema() -> dict[str, Any]:
    fields: dict[str, Any] = {
        "statement": {"type": "string"},
        "start_ms": {"type": "integer"},
        "end_ms": {"type": "integer"},
        "frames": {"type": "array", "items": {"type": "integer"}, "maxItems": 16},
        "bearing": {"type": "string", "enum": list(BEARINGS)},
    }
    finding = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    findings = {"type": "array", "items": finding, "maxItems": MAX_FINDINGS}
    return {
        "type": "object",
        "properties": {"findings": findings},
        "required": ["findings"],
        "additionalProperties": False,
    }


def read_findings(text: str, look: Look, frames: Sequence[StoredFrame]) -> list[Finding] | None:
    """Return the findings of a report on a look at frames (numbered from 1); None if nothing can be read from it.

    A span is cut to the look's; if they do not overlap, it is taken from the named frames. A number that no frame has
    is dropped. A statement without a bearing has bearing none.
    """
    fields = read_object(text)
    reported = fields.get("findings") if fields is not None else None
    if not isinstance(reported, list):
        return None
    findings = (_read(item, look, frames) for item in reported if isinstance(item, dict))
    return [finding for finding in findings if finding is not None][:MAX_FINDINGS]


def _read(item: Mapping[str, Any], look: Look, frames: Sequence[StoredFrame]) -> Finding | None:
    statement = as_data(storable(str(item.get("statement") or "")))[:STATEMENT_CHARACTERS]
    if not statement:
        return None
    named = tuple(frames[index] for index in indices_of(item.get("frames"), len(frames)))
    bearing = BEARINGS.get(str(item.get("bearing")), "none")
    return Finding(look.video_id, _span(item, look, named), statement, bearing, named)


def _span(item: Mapping[str, Any], look: Look, named: Sequence[StoredFrame]) -> Span:
    start, end = item.get("start_ms"), item.get("end_ms")
    if isinstance(start, int) and isinstance(end, int):
        start, end = max(start, look.span.start_ms), min(end, look.span.end_ms)
        if start < end:
            return Span(start, end)
    if named:
        return Span(min(frame.ms for frame in named), max(frame.ms for frame in named) + 1)
    return look.span
