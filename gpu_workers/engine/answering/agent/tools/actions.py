"""What is done just before and just after a moment, by a look at six frames in a row (AVATAAR, table I)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.contract import (
    NOTHING_FOUND,
    OUT_OF_RANGE,
    Artifact,
    Millis,
    Observation,
    Tool,
    VideoNumber,
    failed,
)
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import StoredFrame
from gpu_workers.engine.retrieval.frames import ROWS

FRAMES = 6
"""Number of frames that are looked at (AVATAAR, table I)."""

REACHES_MS = (10_000, 60_000)
"""How far from the moment frames are sought, and how far if fewer than FRAMES are stored there: they are stored once a
second, and what is a minute away belongs to something else."""

Side = Literal["before", "after"]

_NEEDS: frozenset[Artifact] = frozenset({"frames", "checker"})
_FIND = {
    "before": "what is done in these frames, one action after the other, just before the moment after the last of them",
    "after": "what is done in these frames, one action after the other, just after the moment before the first of them",
}


def action_tool(side: Side) -> Tool:
    """Return the tool action_before or action_after."""
    return Tool(
        name=f"action_{side}",
        description=f"Looks at the six frames just {side} a moment and reports what is done in them.",
        arguments={"t_ms": Millis(), "video": VideoNumber()},
        needs=_NEEDS,
        most=2,
        use=lambda desk, values: _look(desk, values, side),
    )


ACTION_BEFORE, ACTION_AFTER = action_tool("before"), action_tool("after")


def frames_beside(desk: Desk, video_id: UUID, t_ms: int, side: Side) -> Sequence[StoredFrame]:
    """Return at most FRAMES stored frames strictly before or after a moment, the nearest ones, in order of time."""
    frames: Sequence[StoredFrame] = ()
    for reach_ms in REACHES_MS:
        start, end = (max(0, t_ms - reach_ms), t_ms) if side == "before" else (t_ms + 1, t_ms + 1 + reach_ms)
        if start >= end:
            return ()
        frames = desk.asked.graph.frames_between(video_id, Span(start, end), limit=ROWS)
        if len(frames) >= FRAMES:
            break
    return frames[-FRAMES:] if side == "before" else frames[:FRAMES]


def _look(desk: Desk, values: Mapping[str, Any], side: Side) -> Observation:
    video_id, t_ms = desk.video(values["video"]), values["t_ms"]
    if video_id is None:
        return Observation("There is no such video.", OUT_OF_RANGE)
    extent = desk.extents[video_id]
    if not extent.start_ms <= t_ms <= extent.end_ms:
        return Observation(
            f"{clock(t_ms, hours=True)} is outside; there is {desk.place(video_id, extent)} "
            f"({extent.start_ms} to {extent.end_ms} ms).",
            OUT_OF_RANGE,
        )
    frames = frames_beside(desk, video_id, t_ms, side)
    if not frames:
        return Observation(f"No frame is stored just {side} {clock(t_ms, hours=True)}.", NOTHING_FOUND)
    findings, error = desk.look(_FIND[side], frames)
    if error:
        return failed(error)
    place = desk.place(video_id, Span(frames[0].ms, frames[-1].ms + 1))
    head = f"{len(frames)} frames just {side} {clock(t_ms, hours=True)} ({place})"
    ids = tuple(frame.id for frame in frames)
    if not findings:
        return Observation(f"{head} show no action.", NOTHING_FOUND, frames=ids)
    events = tuple(dict.fromkeys(frame.event_id for finding in findings for frame in finding.frames or frames))
    lines = [f"{desk.place(finding.video_id, finding.span)} {finding.statement}" for finding in findings]
    return Observation("\n".join([f"{head}:", *lines]), events=events, frames=ids)
