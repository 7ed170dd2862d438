"""The tool that looks at frames again, at several moments in one look."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.contract import (
    NOTHING_FOUND,
    OUT_OF_RANGE,
    Observation,
    OneOf,
    Spans,
    Text,
    Tool,
    failed,
)
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.looking.looks import HIGH_FRAMES
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import KnowledgeGraph, StoredFrame
from gpu_workers.engine.retrieval.frames import ROWS

MOST_FRAMES = 50
MOST_RANGES = 4
FPS = ("0.2", "0.5", "1", "2")
MOST_NAMED = 20
"""Maximum number of videos whose extent a refusal names."""


def frame_inspect(most_frames: int = MOST_FRAMES, most: int = 6) -> Tool:
    """Return the tool. most_frames: maximum frames of one look, as far as the checker takes them."""

    def use(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
        return inspect_ranges(
            desk,
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
        frozenset({"frames", "checker"}),
        most,
        use,
    )


def inspect_ranges(
    desk: Desk,
    question: str,
    ranges: Sequence[tuple[int, Span]],
    *,
    fps: float,
    high: bool,
    most_frames: int,
) -> Observation:
    """Look at frames spread over the ranges, at most one request of the checker. Raises Halt.

    ranges: (video number, span), cut to what can be read.
    """
    within = _readable(desk, ranges)
    if not within:
        return Observation(f"There is nothing at these times. {extents_in_words(desk)}", OUT_OF_RANGE)
    checker = desk.asked.models.checker
    limit = min(most_frames, checker.max_frames if checker else most_frames, HIGH_FRAMES if high else most_frames)
    total = sum(span.duration_ms for _, span in within)
    frames = frames_over(desk.asked.graph, within, min(limit, max(1, ceil(total * fps / 1_000))))
    if not frames:
        return Observation("No frames are kept of these times.", NOTHING_FOUND)
    findings, error = desk.look(question, frames, high=high)
    if error:
        return failed(error)
    for frame in frames:
        desk.sightings.frame(frame)
    frame_ids = tuple(frame.id for frame in frames)
    if not findings:
        return Observation(f"Nothing of this is to be seen in {len(frames)} frames.", NOTHING_FOUND, frames=frame_ids)
    lines, events = [], []
    for finding in findings:
        # A finding without frames of its own rests on those of its span.
        near = [frame for frame in frames if frame.video_id == finding.video_id and finding.span.contains(frame.ms)]
        of_finding = dict.fromkeys(frame.event_id for frame in finding.frames or near)
        events += list(of_finding)
        names = " ".join(name for name in map(desk.sightings.name_of, of_finding) if name)
        lines.append(f"{desk.place(finding.video_id, finding.span)} {names}: {finding.statement}")
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


def extents_in_words(desk: Desk) -> str:
    """Return which times can be read, in milliseconds as arguments have them."""
    parts = []
    for number, video in list(desk.videos.items())[:MOST_NAMED]:
        span = desk.extents[video]
        parts.append(f"{f'video {number}: ' if desk.several else ''}{span.start_ms} to {span.end_ms} ms")
    more = f" and {len(desk.videos) - MOST_NAMED} more videos" if len(desk.videos) > MOST_NAMED else ""
    return f"Times go from {'; '.join(parts)}{more}."


def _readable(desk: Desk, ranges: Sequence[tuple[int, Span]]) -> list[tuple[UUID, Span]]:
    """Return the parts of ranges that lie inside the extent of their video, in order of video and time, disjoint."""
    parts: list[tuple[UUID, Span]] = []
    for number, span in ranges:
        video = desk.video(number)
        extent = desk.extents[video] if video else None
        if video and extent and span.overlaps(extent):
            parts.append((video, Span(max(span.start_ms, extent.start_ms), min(span.end_ms, extent.end_ms))))
    merged: list[tuple[UUID, Span]] = []
    for video, span in sorted(parts):
        if merged and merged[-1][0] == video and span.start_ms <= merged[-1][1].end_ms:
            merged[-1] = (video, Span(merged[-1][1].start_ms, max(merged[-1][1].end_ms, span.end_ms)))
        else:
            merged.append((video, span))
    return merged
