"""Looks at frames: the spans that a plan names, cut to what may be looked at, and the findings of each look."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from gpu_workers.engine.answering.parsing import indices_of
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock_span
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.served.structured import list_of, object_of, read_object, storable
from gpu_workers.engine.ports import KnowledgeGraph, StoredEvent, StoredFrame
from gpu_workers.engine.retrieval.frames import ROWS

MARGIN_MS = 3_000
"""Maximum distance of a look from an event: one chunk."""

MAX_LOOKS = 4
HIGH_FRAMES = 8
"""Maximum number of frames of a look in full resolution: each is read from the source."""

MIN_FPS, MAX_FPS = 0.2, 2.0
FIND_CHARACTERS = 300

Reach = Mapping[UUID, Sequence[Span]]
"""Spans that may be looked at, by video, in order of time, none touching the next."""


@dataclass(frozen=True, slots=True)
class Look:
    """One look. find: what to watch for. high: in full resolution."""

    video_id: UUID
    span: Span
    find: str
    fps: float
    high: bool = False


def plan_schema(*, several_videos: bool, looks: int = MAX_LOOKS) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "start_ms": {"type": "integer"},
        "end_ms": {"type": "integer"},
        "what_to_find": {"type": "string"},
        "fps": {"type": "number"},
        "resolution": {"type": "string", "enum": ["low", "high"]},
    }
    if several_videos:
        fields["video"] = {"type": "integer"}
    return object_of({"looks": list_of(object_of(fields), looks)})


def reach_of(events: Sequence[StoredEvent], *, margin_ms: int = MARGIN_MS) -> Reach:
    """Return the spans that may be looked at: each event and margin_ms on both its sides."""
    spans: dict[UUID, list[Span]] = {}
    for event in sorted(events, key=lambda event: (event.video_id, event.span)):
        wide = Span(max(0, event.span.start_ms - margin_ms), event.span.end_ms + margin_ms)
        merged = spans.setdefault(event.video_id, [])
        if merged and wide.start_ms <= merged[-1].end_ms:
            merged[-1] = Span(merged[-1].start_ms, max(merged[-1].end_ms, wide.end_ms))
        else:
            merged.append(wide)
    return spans


def read_plan(
    text: str, reach: Reach, videos: Mapping[int, UUID], *, most: int = MAX_LOOKS, least_fps: float = MIN_FPS
) -> list[Look]:
    """Return the looks of a plan, cut to reach, whatever the plan says.

    videos: by the number that the plan gives them; a single video needs no number. A look across a gap in reach becomes
    one look on each side. Unreadable looks are left out; at most `most` are returned. least_fps: a slower rate becomes
    this one.
    """
    planned = (read_object(text) or {}).get("looks")
    looks: list[Look] = []
    for item in planned if isinstance(planned, list) else []:
        if isinstance(item, dict):
            looks += _read_look(item, reach, videos, least_fps)
    return list(dict.fromkeys(looks))[:most]


def default_looks(events: Sequence[StoredEvent], find: str) -> list[Look]:
    """Return a look at each of the first events, if there is no plan."""
    return [Look(event.video_id, event.span, find, 1.0) for event in events[:MAX_LOOKS]]


def frames_of_look(
    graph: KnowledgeGraph, look: Look, events: Sequence[StoredEvent], *, limit: int
) -> tuple[list[StoredFrame], int]:
    """Return the stored frames of a look at its rate, evenly thinned to limit, and how many lie in its span. events:
    the retrieved events and their neighbours."""
    ids = [event.id for event in events if event.video_id == look.video_id and event.span.overlaps(look.span)]
    inside = [frame for frame in graph.frames_of(ids, limit=ROWS) if look.span.contains(frame.ms)] if ids else []
    chosen: list[StoredFrame] = []
    for frame in inside:
        if not chosen or frame.ms - chosen[-1].ms >= 990 / look.fps:
            chosen.append(frame)
    limit = min(limit, HIGH_FRAMES) if look.high else limit
    if len(chosen) > limit:
        chosen = [chosen[(2 * n + 1) * len(chosen) // (2 * limit)] for n in range(limit)]
    return chosen, len(inside)


def neighbourhood(graph: KnowledgeGraph, events: Sequence[StoredEvent]) -> list[StoredEvent]:
    """Return events with their previous and next ones, which a margin reaches into."""
    ids = [event.id for event in events]
    neighbours = [*graph.next_events(ids).values(), *graph.previous_events(ids).values()]
    return list(graph.load_events(list(dict.fromkeys([*ids, *neighbours]))).values())


def _read_look(item: Mapping[str, Any], reach: Reach, videos: Mapping[int, UUID], least_fps: float) -> list[Look]:
    start, end = _whole(item.get("start_ms")), _whole(item.get("end_ms"))
    video = next(iter(videos.values()), None) if len(videos) == 1 else videos.get(_whole(item.get("video")) or 0)
    # The planner has read text from the video: its words are only used as something to watch for, cut to a sentence.
    find = as_data(str(item.get("what_to_find") or ""))[:FIND_CHARACTERS]
    if video is None or start is None or end is None or end <= start or end <= 0 or not find:
        return []
    raw = item.get("fps")
    fps = float(raw) if isinstance(raw, (int, float)) and not isinstance(raw, bool) else 1.0
    fps = min(MAX_FPS, max(least_fps, fps))
    high = item.get("resolution") == "high"
    planned = Span(max(0, start), end)
    return [
        Look(video, Span(max(planned.start_ms, span.start_ms), min(planned.end_ms, span.end_ms)), find, fps, high)
        for span in reach.get(video, ())
        if span.overlaps(planned)
    ]


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return int(value)


# --- what a look found ------------------------------------------------------------------------------------------------

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
        "frames": list_of({"type": "integer"}, 16),
        "bearing": {"type": "string", "enum": list(BEARINGS)},
    }
    return object_of({"findings": list_of(object_of(fields), MAX_FINDINGS)})


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
