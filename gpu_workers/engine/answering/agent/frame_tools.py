"""Tools that look at frames again: `frame_inspect` at several moments in one look, `action_before` and `action_after`
at six frames in a row just before or after a moment (AVATAAR, table I)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any, Literal
from uuid import UUID

from gpu_workers.engine.answering.agent.tool import (
    NOTHING_FOUND,
    OUT_OF_RANGE,
    Millis,
    Observation,
    OneOf,
    Spans,
    Text,
    Tool,
    VideoNumber,
    failed,
)
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.contract import Artifact
from gpu_workers.engine.answering.looking.looks import HIGH_FRAMES
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import KnowledgeGraph, StoredFrame
from gpu_workers.engine.retrieval.frames import ROWS

MOST_RANGES = 4
FPS = ("0.2", "0.5", "1", "2")
MOST_NAMED = 20
"""Maximum number of videos whose extent a refusal names."""

ACTION_FRAMES = 6
"""Number of frames of which actions are reported (AVATAAR, table I)."""

REACHES_MS = (10_000, 60_000)
"""How far from a moment frames of actions are sought, and how far if fewer than ACTION_FRAMES are stored there: they
are stored once a second, and what is a minute away belongs to something else."""

Side = Literal["before", "after"]

_NEEDS: frozenset[Artifact] = frozenset({"frames", "checker"})
_FIND = {
    "before": "what is done in these frames, one action after the other, just before the moment after the last of them",
    "after": "what is done in these frames, one action after the other, just after the moment before the first of them",
}


# --- frame_inspect ---------------------------------------------------------------------------------------------------


def frame_inspect(most_frames: int) -> Tool:
    """Return the tool. most_frames: maximum frames of one look, as far as the checker takes them."""

    def use(toolbox: Toolbox, arguments: Mapping[str, Any]) -> Observation:
        return inspect_ranges(
            toolbox,
            arguments["question"],
            arguments["ranges"],
            fps=float(arguments["fps"]),
            high=arguments["resolution"] == "high",
            most_frames=most_frames,
        )

    return Tool(
        "frame_inspect",
        "Looks at the frames of a few ranges of time to answer a question. resolution: high for small things.",
        {
            "question": Text(),
            "ranges": Spans(MOST_RANGES),
            "fps": OneOf(FPS, default="1"),
            "resolution": OneOf(("low", "high"), default="low"),
        },
        _NEEDS,
        6,
        use,
    )


def inspect_ranges(
    toolbox: Toolbox, question: str, ranges: Sequence[tuple[int, Span]], *, fps: float, high: bool, most_frames: int
) -> Observation:
    """Look at frames spread over the ranges, at most one request of the checker. Raises Halt.

    ranges: (video number, span), cut to what can be read.
    """
    within = _readable(toolbox, ranges)
    if not within:
        return Observation(f"There is nothing at these times. {extents_in_words(toolbox)}", OUT_OF_RANGE)
    checker = toolbox.asked.models.checker
    limit = min(most_frames, checker.max_frames if checker else most_frames, HIGH_FRAMES if high else most_frames)
    total = sum(span.duration_ms for _, span in within)
    frames = frames_over(toolbox.asked.graph, within, min(limit, max(1, ceil(total * fps / 1_000))))
    if not frames:
        return Observation("No frames are kept of these times.", NOTHING_FOUND)
    findings, error = toolbox.look(question, frames, high=high)
    if error:
        return failed(error)
    for frame in frames:
        toolbox.evidence.label_frame(frame)
    frame_ids = tuple(frame.id for frame in frames)
    if not findings:
        return Observation(f"Nothing of this is to be seen in {len(frames)} frames.", NOTHING_FOUND, frames=frame_ids)
    lines, events = [], []
    for finding in findings:
        # A finding without frames of its own rests on those of its span.
        near = [frame for frame in frames if frame.video_id == finding.video_id and finding.span.contains(frame.ms)]
        of_finding = dict.fromkeys(frame.event_id for frame in finding.frames or near)
        events += list(of_finding)
        labels = toolbox.evidence.labels_of(of_finding)
        lines.append(f"{toolbox.place(finding.video_id, finding.span)} {labels}: {finding.statement}")
    return Observation("\n".join(lines), events=tuple(dict.fromkeys(events)), frames=frame_ids)


def frames_over(graph: KnowledgeGraph, ranges: Sequence[tuple[UUID, Span]], count: int) -> list[StoredFrame]:
    """Return at most count stored frames, each once, in order of video and time.

    The ranges are laid end to end and cut into count equal parts. The frame of a part is the stored one nearest to its
    middle, in the range that the middle lies in; of two equally near, the earlier.
    """
    total = sum(span.duration_ms for _, span in ranges)
    middles = [Fraction((2 * part + 1) * total, 2 * count) for part in range(count)]
    chosen: dict[UUID, StoredFrame] = {}
    start = 0
    for video, span in ranges:
        end = start + span.duration_ms
        wanted = [span.start_ms + middle - start for middle in middles if start <= middle < end]
        start = end
        stored = graph.frames_between(video, span, limit=ROWS) if wanted else ()
        times = [frame.ms for frame in stored]
        for moment in wanted if stored else ():
            after = bisect_left(times, moment)
            near = range(max(0, after - 1), min(len(times), after + 1))
            frame = stored[min(near, key=lambda index: abs(times[index] - moment))]
            chosen[frame.id] = frame
    return sorted(chosen.values(), key=lambda frame: (frame.video_id, frame.ms))


def extents_in_words(toolbox: Toolbox) -> str:
    """Return which times can be read, in milliseconds as arguments have them."""
    parts = []
    for number, video in list(toolbox.videos.items())[:MOST_NAMED]:
        span = toolbox.extents[video]
        parts.append(f"{f'video {number}: ' if toolbox.several else ''}{span.start_ms} to {span.end_ms} ms")
    more = f" and {len(toolbox.videos) - MOST_NAMED} more videos" if len(toolbox.videos) > MOST_NAMED else ""
    return f"Times go from {'; '.join(parts)}{more}."


def _readable(toolbox: Toolbox, ranges: Sequence[tuple[int, Span]]) -> list[tuple[UUID, Span]]:
    """Return the parts of ranges that lie inside the extent of their video, in order of video and time, disjoint."""
    parts: list[tuple[UUID, Span]] = []
    for number, span in ranges:
        video = toolbox.video(number)
        inside = span.cut_to(toolbox.extents[video]) if video else None
        if video and inside:
            parts.append((video, inside))
    merged: list[tuple[UUID, Span]] = []
    for video, span in sorted(parts):
        if merged and merged[-1][0] == video and span.start_ms <= merged[-1][1].end_ms:
            merged[-1] = (video, Span(merged[-1][1].start_ms, max(merged[-1][1].end_ms, span.end_ms)))
        else:
            merged.append((video, span))
    return merged


# --- action_before, action_after -------------------------------------------------------------------------------------


def _action_tool(side: Side) -> Tool:
    return Tool(
        f"action_{side}",
        f"Looks at the six frames just {side} a moment and reports what is done in them.",
        {"t_ms": Millis(), "video": VideoNumber()},
        _NEEDS,
        2,
        lambda toolbox, values: _report_actions(toolbox, values, side),
    )


ACTION_BEFORE, ACTION_AFTER = _action_tool("before"), _action_tool("after")


def frames_next_to(toolbox: Toolbox, video_id: UUID, t_ms: int, side: Side) -> Sequence[StoredFrame]:
    """Return at most ACTION_FRAMES stored frames strictly before or after a moment, the nearest ones, in order of
    time."""
    frames: Sequence[StoredFrame] = ()
    for reach_ms in REACHES_MS:
        start, end = (max(0, t_ms - reach_ms), t_ms) if side == "before" else (t_ms + 1, t_ms + 1 + reach_ms)
        if start >= end:
            return ()
        frames = toolbox.asked.graph.frames_between(video_id, Span(start, end), limit=ROWS)
        if len(frames) >= ACTION_FRAMES:
            break
    return frames[-ACTION_FRAMES:] if side == "before" else frames[:ACTION_FRAMES]


def _report_actions(toolbox: Toolbox, values: Mapping[str, Any], side: Side) -> Observation:
    video_id, t_ms = toolbox.video(values["video"]), values["t_ms"]
    if video_id is None:
        return Observation("There is no such video.", OUT_OF_RANGE)
    extent, at = toolbox.extents[video_id], clock(t_ms, hours=True)
    if not extent.start_ms <= t_ms <= extent.end_ms:
        there = f"{toolbox.place(video_id, extent)} ({extent.start_ms} to {extent.end_ms} ms)"
        return Observation(f"{at} is outside; there is {there}.", OUT_OF_RANGE)
    frames = frames_next_to(toolbox, video_id, t_ms, side)
    if not frames:
        return Observation(f"No frame is stored just {side} {at}.", NOTHING_FOUND)
    findings, error = toolbox.look(_FIND[side], frames)
    if error:
        return failed(error)
    head = f"{len(frames)} frames just {side} {at} ({toolbox.place(video_id, Span(frames[0].ms, frames[-1].ms + 1))})"
    ids = tuple(frame.id for frame in frames)
    if not findings:
        return Observation(f"{head} show no action.", NOTHING_FOUND, frames=ids)
    events = tuple(dict.fromkeys(frame.event_id for finding in findings for frame in finding.frames or frames))
    lines = [f"{toolbox.place(finding.video_id, finding.span)} {finding.statement}" for finding in findings]
    return Observation("\n".join([f"{head}:", *lines]), events=events, frames=ids)
