"""What the recordings themselves say, without an event: how long they are, when they were filmed, what they cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import ROUTED_METHOD, Answer
from gpu_workers.engine.answering.ending.final_answer import without_text
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ports import Recording
from gpu_workers.engine.wall_clock import WallClock

OUTSIDE_VIDEO = "outside_video"
"""Detail of an abstention because the time that the question names lies outside every video of its scope."""

OWN_DATA = "this is what the recordings' own data say; no event was read"

MOST_VIDEOS, MOST_EXTENTS = 12, 3
"""Maximum number of videos whose length is named, and whose extent is written out; more are counted."""


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
    extents = [f"0:00:00 to {_length(one)}" for one in readable]
    if len(extents) > 1:
        return f"The videos cover other times: {_of_each(readable, extents, MOST_EXTENTS)}."
    return f"The video covers {extents[0]}." if extents else "Nothing of the video is indexed yet."


def length_answer(asked: Asked, calls: Calls) -> Answer | None:
    """Return how long the videos are that the question asks about, or when they were filmed; None if it asks something
    else, or if nobody knows when. Only method `ava` answers so, where nothing else was asked for."""
    question, subject = asked.question, asked.understood.subject
    if subject == "content" or question.method != ROUTED_METHOD or question.route != "auto" or question.choices:
        return None
    readable = [recording for recording in asked.recordings.values() if recording.until_ms > 0]
    known = [recording for recording in readable if subject != "filmed" or filmed(recording.clock)]
    if not known:
        return None
    lengths = list(map(_length, known))
    text = _of_each(known, lengths, MOST_VIDEOS) if len(asked.recordings) > 1 else lengths[0]
    answer = without_text(calls, [], "answered", "")
    return replace(answer, text=text, signals={"head": "recordings"}, notes=(OWN_DATA,))


def _of_each(recordings: Sequence[Recording], texts: Sequence[str], most: int) -> str:
    """Return what is said of each of several recordings, after its title, or its number without one."""
    names = [f'"{as_data(one.title)}"' if one.title else f"video {n}" for n, one in enumerate(recordings, start=1)]
    said = [f"{name}: {text}" for name, text in zip(names[:most], texts, strict=False)]
    return "; ".join([*said, *([f"and {len(texts) - most} more"] if len(texts) > most else [])])


def _length(recording: Recording) -> str:
    return f"{clock(recording.until_ms, hours=True)}{filmed(recording.clock)}"


def filmed(wall: WallClock | None) -> str:
    """Return in brackets from when to when a recording was filmed; "" if nobody knows."""
    if wall is None or not wall.stretches:
        return ""
    first = min(wall.stretches, key=lambda stretch: stretch.begins_at)
    last = max(wall.stretches, key=lambda stretch: stretch.ends_at)
    start, end = wall.at(first.span.start_ms), wall.at(last.span.end_ms - 1)
    if start is None or end is None:
        return ""
    if not wall.dated:
        return f" ({start:%H:%M} to {end:%H:%M} on the clock in the picture)"
    zone = f", {wall.zone}" if wall.zone else ""
    return f" (filmed from {start.day} {start:%B %Y %H:%M} to {end.day} {end:%B %Y %H:%M}{zone})"
