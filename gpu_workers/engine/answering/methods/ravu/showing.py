"""What a program found becomes what the answer may rest on: numbered events, frames to look at, a count in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.answering.methods.ravu import functions
from gpu_workers.engine.answering.methods.ravu.state import Run
from gpu_workers.engine.answering.methods.ravu.values import Frames, Moments, Number, Text, Things, Value
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ports import StoredFrame

MOST_EVENTS = 16
"""Maximum number of events that are shown, as many as an answer of `ava` reads at most."""

MOST_OBJECTS_TOLD = 20
EVENT_TOKENS = 160
"""Maximum tokens of one event as it is shown."""


@dataclass(frozen=True, slots=True)
class Shown:
    """frames: to look at, in order of time. events: those that were numbered, as lines."""

    frames: tuple[StoredFrame, ...]
    events: tuple[UUID, ...]
    lines: tuple[str, ...]


def show(run: Run, value: Value, *, most_frames: int) -> Shown:
    """Number the events behind a program's value, and note its number or text.

    A count or a description rests on the moments of what was counted or described.
    """
    sightings = run.desk.sightings
    if isinstance(value, Number):
        sightings.noted(f"Counted in the index: {value.in_words()}.{_limits(run)}{_objects(run, value.of)}")
    if isinstance(value, Text):
        sightings.noted(f"{value.text}{_limits(run)}")
    if isinstance(value, Frames):
        frames = _some(value.items, most_frames)
        ids = list(dict.fromkeys(frame.event_id for frame in frames))
    else:
        of = value.of if isinstance(value, Number | Text) else value
        moments = of if isinstance(of, Moments) else functions.track(run, of)
        ids = list(moments.event_ids)
        frames = functions.frames(run, Moments(moments.items[:MOST_EVENTS]), most_frames).items
    events = sorted(run.desk.load(ids[:MOST_EVENTS]), key=lambda event: (event.video_id, event.span, event.id))
    lines = tuple(run.desk.event_line(event, most_tokens=EVENT_TOKENS) for event in events)
    return Shown(tuple(frames), tuple(event.id for event in events), lines)


def _some(frames: Sequence[StoredFrame], most: int) -> tuple[StoredFrame, ...]:
    """Return at most `most` of the frames: the middle one of each of as many equal parts."""
    if len(frames) <= most:
        return tuple(frames)
    return tuple(frames[(2 * part + 1) * len(frames) // (2 * most)] for part in range(most))


def _limits(run: Run) -> str:
    """Return what the program could not read or ask; "" if nothing."""
    return f" Uncertain: {'; '.join(run.limits)}." if run.limits else ""


def _objects(run: Run, of: Moments | Things) -> str:
    """Return the objects that were counted with their numbers and when each is first seen."""
    if isinstance(of, Moments):
        return ""
    desk = run.desk
    told = [
        f"{desk.sightings.object(thing.stored)} {as_data(thing.words)} {desk.place(thing.video_id, thing.spans[0])}"
        for thing in of.items[:MOST_OBJECTS_TOLD]
        if thing.stored is not None and thing.spans
    ]
    rest = f" and {len(of.items) - len(told)} more" if told and len(of.items) > len(told) else ""
    return f" {'; '.join(told)}{rest}" if told else ""
