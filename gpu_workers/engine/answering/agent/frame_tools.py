"""Tools that look at frames again: `frame_inspect` at several moments in one look, `action_before` and `action_after`
at six frames in a row just before or after a moment (AVATAAR, table I)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
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
from gpu_workers.engine.answering.budget import BudgetSpent
from gpu_workers.engine.answering.contract import Artifact
from gpu_workers.engine.answering.looking.inspection import observe
from gpu_workers.engine.answering.looking.looks import HIGH_FRAMES, Finding, Look
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import StoredFrame
from gpu_workers.engine.retrieval.frames import ROWS

KNOWN_FINDINGS = 8
"""Number of the last findings that a look gets."""

MOST_RANGES = 4
FPS = ("0.2", "0.5", "1", "2")
MOST_NAMED = 20
"""Maximum number of videos whose extent a refusal names."""

ACTION_FRAMES = 6
"""Number of frames of which actions are reported (AVATAAR, table I)."""

ACTION_REACH_MS = 60_000
"""How far from a moment frames of actions are sought: what is further away belongs to something else."""

_NEEDS: frozenset[Artifact] = frozenset({"frames", "checker"})
_FIND = {
    "before": "what is done in these frames, one action after the other, just before the moment after the last of them",
    "after": "what is done in these frames, one action after the other, just after the moment before the first of them",
}


# --- a look ----------------------------------------------------------------------------------------------------------


def look_at_frames(
    toolbox: Toolbox, question: str, frames: Sequence[StoredFrame], *, high: bool = False
) -> tuple[list[Finding], str]:
    """Look at frames for an answer to question; number what the findings show.

    frames: in order of time. One request takes checker.max_frames of them, of one video; requests are made in parallel.
    high: in full resolution.

    Returns the findings and "", or [] and the code of the failure if every request failed. Raises Halt, after what was
    found before has been kept.
    """
    asked, log = toolbox.asked, toolbox.evidence
    if asked.models.checker is None:
        return [], "no_checker"
    most = asked.models.checker.max_frames
    events = toolbox.load(frame.event_id for frame in frames)
    by_video: dict[UUID, list[StoredFrame]] = {}
    for frame in frames:
        by_video.setdefault(frame.video_id, []).append(frame)
    parts = [own[at : at + most] for own in by_video.values() for at in range(0, len(own), most)]
    looks = [(Look(part[0].video_id, Span(part[0].ms, part[-1].ms + 1), question, 1.0, high), part) for part in parts]
    known = [finding.in_words("") for finding in log.findings[-KNOWN_FINDINGS:]]
    reports = observe(asked, toolbox.calls, looks, events, hypothesis="", known=known, meter=toolbox.meter)
    findings = [finding for report in reports for finding in report.findings]
    of_id = {event.id: event for event in events}
    for frame in (frame for finding in findings for frame in _shown_by(finding, frames)):
        log.label_frame(frame)
        if frame.event_id in of_id:
            log.label_event(of_id[frame.event_id])
    log.add_findings(findings)
    errors = [report.error for report in reports if report.error]
    halts = [report.halt for report in reports if report.halt]
    if halts or (errors and toolbox.calls.spending.out_of_time()):
        raise halts[0] if halts else BudgetSpent("max_seconds")
    return findings, errors[0] if errors and len(errors) == len(reports) else ""


def _shown_by(finding: Finding, frames: Sequence[StoredFrame]) -> Sequence[StoredFrame]:
    """Return the frames that a finding rests on; if it names none, those of its span."""
    near = (frame for frame in frames if frame.video_id == finding.video_id and finding.span.contains(frame.ms))
    return finding.frames or tuple(near)


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
    within: list[tuple[UUID, Span]] = []
    for number, span in ranges:
        video = toolbox.video(number)
        if video and (inside := span.cut_to(toolbox.extents[video])):
            within.append((video, inside))
    if not within:
        return Observation(f"There is nothing at these times. {extents_in_words(toolbox)}", OUT_OF_RANGE)
    checker = toolbox.asked.models.checker
    limit = min(most_frames, checker.max_frames if checker else most_frames, HIGH_FRAMES if high else most_frames)
    total = sum(span.duration_ms for _, span in within)
    frames = _spread(toolbox, within, min(limit, max(1, ceil(total * fps / 1_000))))
    if not frames:
        return Observation("No frames are kept of these times.", NOTHING_FOUND)
    return _looked(toolbox, question, frames, f"Nothing of this is to be seen in {len(frames)} frames.", high=high)


def _spread(toolbox: Toolbox, ranges: Sequence[tuple[UUID, Span]], count: int) -> list[StoredFrame]:
    """Return at most count stored frames, each once, in order of video and time. Each range gets a part of them by its
    length, spread evenly."""
    chosen: dict[UUID, StoredFrame] = {}
    left_ms = sum(span.duration_ms for _, span in ranges)
    for video, span in sorted(ranges):
        share = round(count * span.duration_ms / left_ms)
        frames = toolbox.asked.graph.frames_between(video, span, limit=share) if share else ()
        chosen.update((frame.id, frame) for frame in frames)
        count, left_ms = count - share, left_ms - span.duration_ms
    return sorted(chosen.values(), key=lambda frame: (frame.video_id, frame.ms))


def extents_in_words(toolbox: Toolbox) -> str:
    """Return which times can be read, in milliseconds as arguments have them."""
    parts = []
    for number, video in list(toolbox.videos.items())[:MOST_NAMED]:
        span = toolbox.extents[video]
        parts.append(f"{f'video {number}: ' if toolbox.several else ''}{span.start_ms} to {span.end_ms} ms")
    more = f" and {len(toolbox.videos) - MOST_NAMED} more videos" if len(toolbox.videos) > MOST_NAMED else ""
    return f"Times go from {'; '.join(parts)}{more}."


def _looked(
    toolbox: Toolbox, question: str, frames: Sequence[StoredFrame], nothing: str, *, head: str = "", high: bool = False
) -> Observation:
    """Return the findings of a look, a line each, after head. nothing: what a look without findings says."""
    findings, error = look_at_frames(toolbox, question, frames, high=high)
    if error:
        return failed(error)
    for frame in frames:
        toolbox.evidence.label_frame(frame)
    ids = tuple(frame.id for frame in frames)
    if not findings:
        return Observation(nothing, NOTHING_FOUND, frames=ids)
    lines, events = [head] if head else [], dict[UUID, None]()
    for finding in findings:
        here = dict.fromkeys(frame.event_id for frame in _shown_by(finding, frames))
        events |= here
        place = toolbox.place(finding.video_id, finding.span)
        lines.append(f"{place} {toolbox.evidence.labels_of(here)}: {finding.statement}")
    return Observation("\n".join(lines), events=tuple(events), frames=ids)


# --- action_before, action_after -------------------------------------------------------------------------------------


def _action_tool(side: Literal["before", "after"]) -> Tool:
    return Tool(
        f"action_{side}",
        f"Looks at the six frames just {side} a moment and reports what is done in them.",
        {"t_ms": Millis(), "video": VideoNumber()},
        _NEEDS,
        2,
        partial(_report_actions, side=side),
    )


def _report_actions(toolbox: Toolbox, values: Mapping[str, Any], *, side: str) -> Observation:
    """Look at the ACTION_FRAMES stored frames strictly before or after a moment that are nearest to it."""
    video_id, t_ms = toolbox.video(values["video"]), values["t_ms"]
    if video_id is None:
        return Observation("There is no such video.", OUT_OF_RANGE)
    extent, at = toolbox.extents[video_id], clock(t_ms, hours=True)
    if not extent.start_ms <= t_ms <= extent.end_ms:
        return Observation(f"{at} is outside. {extents_in_words(toolbox)}", OUT_OF_RANGE)
    start, end = (t_ms - ACTION_REACH_MS, t_ms) if side == "before" else (t_ms + 1, t_ms + 1 + ACTION_REACH_MS)
    within = Span(max(0, start), end) if end > 0 else None
    stored = toolbox.asked.graph.frames_between(video_id, within, limit=ROWS) if within else ()
    frames = stored[-ACTION_FRAMES:] if side == "before" else stored[:ACTION_FRAMES]
    if not frames:
        return Observation(f"No frame is stored just {side} {at}.", NOTHING_FOUND)
    place = toolbox.place(video_id, Span(frames[0].ms, frames[-1].ms + 1))
    head = f"{len(frames)} frames just {side} {at} ({place})"
    return _looked(toolbox, _FIND[side], frames, f"{head} show no action.", head=f"{head}:")


ACTION_BEFORE, ACTION_AFTER = _action_tool("before"), _action_tool("after")
