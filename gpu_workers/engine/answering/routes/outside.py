"""What an answer says about the time that its question names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.ending.final_answer import without_text
from gpu_workers.engine.answering.understood import UnderstoodTime
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ports import Recording
from gpu_workers.engine.wall_clock import WallClock

OUTSIDE_VIDEO = "outside_video"
"""Detail of an abstention because the time that the question names lies outside every video of its scope."""

MOST_VIDEOS = 3
"""Maximum number of videos whose extent is written out."""


def time_notes(time: UnderstoodTime | None) -> tuple[str, ...]:
    """Return the note on the time that was understood; none if the question names none."""
    if time is None:
        return ()
    return (f'the time "{as_data(time.words)}" was understood as: {time.meaning}',)


def outside_answer(asked: Asked, calls: Calls) -> Answer | None:
    """Return an abstention that says what the videos cover, if the question names a time outside all of them."""
    time = asked.understood.time
    if time is None or time.spans or time.order:
        return None
    answer = without_text(calls, [], "insufficient_evidence", OUTSIDE_VIDEO)
    return replace(answer, text=f"The question is about {time.meaning}. {covered(asked.recordings)}")


def covered(recordings: Mapping[UUID, Recording]) -> str:
    """Return in a sentence which times the recordings cover, on their own clock and on the wall clock."""
    readable = [recording for recording in recordings.values() if recording.until_ms > 0]
    if not readable:
        return "Nothing of the video is indexed yet."
    if len(readable) == 1:
        return f"The video covers {_extent(readable[0])}."
    extents = [
        f"{as_data(each.title) or f'video {n}'} covers {_extent(each)}" for n, each in enumerate(readable, start=1)
    ]
    more = len(extents) - MOST_VIDEOS
    others = f"; and {more} more videos" if more > 0 else ""
    return f"The videos cover other times: {'; '.join(extents[:MOST_VIDEOS])}{others}."


def _extent(recording: Recording) -> str:
    extent = f"0:00:00 to {clock(recording.until_ms, hours=True)}"
    return f"{extent}{filmed(recording.clock)}"


def filmed(wall: WallClock | None) -> str:
    """Return in brackets from when to when a recording was filmed; "" if nobody knows."""
    if wall is None or not wall.stretches:
        return ""
    first = min(wall.stretches, key=lambda stretch: stretch.begins_at)
    last = max(wall.stretches, key=lambda stretch: stretch.ends_at)
    start = wall.at(first.span.start_ms)
    end = wall.at(last.span.end_ms - 1)
    if start is None or end is None:
        return ""
    if not wall.dated:
        return f" ({start:%H:%M} to {end:%H:%M} on the clock in the picture)"
    zone = f", {wall.zone}" if wall.zone else ""
    return f" (filmed from {start.day} {start:%B %Y %H:%M} to {end.day} {end:%B %Y %H:%M}{zone})"
