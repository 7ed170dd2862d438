"""The records of a program: what was written, what each step gave, why the question itself was searched instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.contract import DETAIL_CHARACTERS, NodeEvent, NodeRecord
from gpu_workers.engine.answering.methods.ravu.planning import Attempt
from gpu_workers.engine.answering.methods.ravu.program import Ref
from gpu_workers.engine.answering.methods.ravu.running import StepRun
from gpu_workers.engine.answering.methods.ravu.values import Frames, Moments, Number, Text, Things, Value
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.roles import Meter

MOST_RECORDED = 50
"""Maximum number of events in the record of a step."""

TOLD_THINGS = 5


def attempt_record(path: str, attempt: Attempt) -> NodeRecord:
    """Return the record of a request for a program: what was written, and what is wrong with it."""
    return NodeRecord(
        path,
        path.count("/") + 1,
        "program",
        error=attempt.error,
        note="; ".join(attempt.faults),
        started_ms=attempt.started_ms,
        wall_ms=attempt.wall_ms,
        detail=_detail("program", {}, attempt.text, attempt.error),
        **_tokens(attempt.meter),
    )


def step_record(desk: Desk, number: int, run: StepRun) -> NodeRecord:
    """Return the record of a step of a program: its arguments, its value in words, and what was cut."""
    arguments = {
        name: given.name if isinstance(given, Ref) else given
        for name, given in run.step.arguments.items()
        if given is not None
    }
    observation = " ".join((f"{run.step.out} = {in_words(run.value)}", *(f"({note})" for note in run.notes)))
    return NodeRecord(
        f"ravu/S{number:02}",
        2,
        run.step.op,
        events=_events(desk, run.value),
        error=run.error,
        started_ms=run.started_ms,
        wall_ms=run.wall_ms,
        detail=_detail(run.step.op, arguments, observation, run.error),
    )


def fallback_record(desk: Desk, why: str, found: Moments, error: str) -> NodeRecord:
    """Return the record of the search with the whole question. why: what made the program useless."""
    return NodeRecord(
        "ravu/fallback",
        2,
        "fallback",
        events=_events(desk, found),
        error=error,
        note=why,
        started_ms=desk.calls.spending.elapsed_ms(),
        detail=_detail("localize", {"phrase": desk.asked.searched}, in_words(found), error),
    )


def look_record(
    frames: int, seen: Sequence[str], error: str, *, started_ms: int, wall_ms: int, meter: Meter
) -> NodeRecord:
    """Return the record of the look at the frames. seen: its findings in words."""
    return NodeRecord(
        "ravu/look",
        2,
        "look",
        error=error,
        frames_used=frames,
        frames_available=frames,
        seen=tuple(seen),
        started_ms=started_ms,
        wall_ms=wall_ms,
        detail=_detail("look", {"frames": frames}, "\n".join(seen), error),
        **_tokens(meter),
    )


def in_words(value: Value | None) -> str:
    """Return a value in a few words."""
    match value:
        case None:
            return "nothing"
        case Moments(items=items):
            return f"{len(items)} events"
        case Frames(items=items):
            return f"{len(items)} frames"
        case Things(items=items):
            told = "; ".join(as_data(thing.words) for thing in items[:TOLD_THINGS])
            return f"{len(items)} things: {told}" if told else "0 things"
        case Number():
            return value.in_words()
        case Text(text=text):
            return text


def _events(desk: Desk, value: Value | None) -> tuple[NodeEvent, ...]:
    if isinstance(value, Number | Text):
        value = value.of
    if not isinstance(value, Moments):
        return ()
    numbers = desk.sightings.numbers
    return tuple(
        NodeEvent(moment.place.event_id, rank, moment.score, numbers.get(moment.place.event_id), ("program",))
        for rank, moment in enumerate(value.items[:MOST_RECORDED], start=1)
    )


def _detail(tool: str, arguments: Mapping[str, Any], observation: str, error: str) -> dict[str, Any]:
    return {
        "tool": tool,
        "arguments": dict(arguments),
        "observation": observation[:DETAIL_CHARACTERS],
        "forced": "",
        "error": error,
    }


def _tokens(meter: Meter) -> dict[str, Any]:
    return {
        "prompt_tokens": sum(call.prompt_tokens for call in meter.calls),
        "completion_tokens": sum(call.completion_tokens for call in meter.calls),
    }
