"""Running a checked program step by step, within a fixed number of reads and model calls; its steps as records, and its
value as what an answer may rest on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from gpu_workers.engine.answering.agent.step_records import step_detail
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.contract import NodeEvent, NodeRecord
from gpu_workers.engine.answering.methods.ravu import functions
from gpu_workers.engine.answering.methods.ravu.checker import CheckedProgram, CheckedStep
from gpu_workers.engine.answering.methods.ravu.finding import MOST_PARTS, filter_moments, localize, neighbors
from gpu_workers.engine.answering.methods.ravu.program import Given, Ref
from gpu_workers.engine.answering.methods.ravu.values import (
    Frames,
    Moments,
    NoVerdict,
    NumberValue,
    Run,
    TextValue,
    Things,
    Value,
    is_empty,
)
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.ports import StoredFrame

MOST_READS = functions.MOST_VIDEOS * functions.MOST_WINDOWS + MOST_PARTS + 4
"""Maximum number of reads of the graph in one step: `before` in many videos, or a search in many stretches of time."""

MOST_RECORDED = 50
"""Maximum number of events in the record of a step."""

MOST_SHOWN = 16
"""Maximum number of events that are shown, as many as an answer of `ava` reads at most."""

THINGS_IN_WORDS, MOST_OBJECTS_NAMED = 5, 20
"""Maximum number of things in the words of a step's value, and of objects in the words of a count."""

SHOWN_TOKENS = 160
"""Maximum tokens of one event as it is shown."""

OPERATIONS: Mapping[str, tuple[Callable[..., Value], tuple[str, ...]]] = {
    "localize": (localize, ("phrase", "what", "within")),
    "after": (functions.after, ("of", "most", "with")),
    "before": (functions.before, ("of", "most", "with")),
    "between": (functions.between, ("a", "b")),
    "during": (functions.during, ("of",)),
    "first": (functions.first, ("of",)),
    "last": (functions.last, ("of",)),
    "events_of": (functions.events_of, ("of",)),
    "track": (functions.track, ("of",)),
    "neighbors": (neighbors, ("of", "relation", "within")),
    "filter": (filter_moments, ("of", "predicate")),
    "union": (functions.union, ("a", "b")),
    "intersect": (functions.intersect, ("a", "b")),
    "minus": (functions.minus, ("a", "b")),
    "count": (functions.count, ("of",)),
    "describe": (functions.describe, ("of",)),
    "frames": (functions.frames, ("of", "most")),
}
"""What each function of the table runs, with its parameters in order."""


@dataclass(frozen=True, slots=True)
class StepRun:
    """One step as it ran. value: None if it was skipped or failed. error: "" or a stable code: "nothing_found",
    "skipped", "no_call_left", or that of a model. started_ms, wall_ms: on the question's clock."""

    step: CheckedStep
    value: Value | None
    error: str = ""
    notes: tuple[str, ...] = ()
    started_ms: int = 0
    wall_ms: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """A program's steps, in order. value: of the last step; None if a step on the way found nothing or failed."""

    steps: tuple[StepRun, ...]

    @property
    def value(self) -> Value | None:
        last = self.steps[-1]
        return last.value if not last.error else None

    @property
    def error(self) -> str:
        """Return why there is no value: the code of the step that ended the program, and its name."""
        ended = next((step for step in self.steps if step.error), None)
        return "" if ended is None else f"{ended.error}: {ended.step.out}"


def run_program(program: CheckedProgram, run: Run) -> Outcome:
    """Run the steps in order. A step that finds nothing, or whose model fails, ends the program: the rest is skipped.

    A step reads the graph at most MOST_READS times and asks the reasoner at most once. Raises nothing that a program
    could cause.
    """
    values: dict[str, Value] = {}
    steps: list[StepRun] = []
    for step in program:
        if steps and steps[-1].error:
            steps.append(StepRun(step, None, "skipped"))
            continue
        run.notes.clear()
        began = run.toolbox.calls.spending.elapsed_ms()
        value, error = _value(run, step, values)
        took = run.toolbox.calls.spending.elapsed_ms() - began
        steps.append(StepRun(step, value, error, tuple(run.notes), began, took))
        if value is not None:
            values[step.out] = value
    return Outcome(tuple(steps))


def _value(run: Run, step: CheckedStep, values: Mapping[str, Value]) -> tuple[Value | None, str]:
    call, parameters = OPERATIONS[step.op]
    try:
        value = call(run, *(_argument(step.arguments[name], values) for name in parameters))
    except (ModelError, NoVerdict) as error:
        return None, error.code
    return value, "nothing_found" if is_empty(value) else ""


def _argument(given: Given | None, values: Mapping[str, Value]) -> Any:
    return cast(Any, values[given.name] if isinstance(given, Ref) else given)


# --- records ---------------------------------------------------------------------------------------------------------


def step_record(toolbox: Toolbox, number: int, run: StepRun) -> NodeRecord:
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
        events=recorded_events(toolbox, run.value),
        error=run.error,
        started_ms=run.started_ms,
        wall_ms=run.wall_ms,
        detail=step_detail(run.step.op, arguments, observation, run.error),
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
            named = "; ".join(as_data(thing.words) for thing in items[:THINGS_IN_WORDS])
            return f"{len(items)} things: {named}" if named else "0 things"
        case NumberValue():
            return value.in_words()
        case TextValue(text=text):
            return text


def recorded_events(toolbox: Toolbox, value: Value | None) -> tuple[NodeEvent, ...]:
    """Return the events behind a value, with the similarities that found them."""
    moments = value.of if isinstance(value, NumberValue | TextValue) else value
    if not isinstance(moments, Moments):
        return ()
    numbers = toolbox.evidence.numbers
    return tuple(
        NodeEvent(moment.place.event_id, rank, moment.score, numbers.get(moment.place.event_id), ("program",))
        for rank, moment in enumerate(moments.items[:MOST_RECORDED], start=1)
    )


# --- what an answer may rest on --------------------------------------------------------------------------------------


def show(run: Run, value: Value, *, most_frames: int) -> tuple[StoredFrame, ...]:
    """Number the events behind a program's value, and note its number or text. Return the frames to look at, in order
    of time.

    A count or a description rests on the moments of what was counted or described.
    """
    toolbox = run.toolbox
    uncertain = f" Uncertain: {'; '.join(run.limits)}." if run.limits else ""
    if isinstance(value, NumberValue):
        toolbox.evidence.add_note(
            f"Counted in the index: {value.in_words()}.{uncertain}{_counted_objects(run, value.of)}"
        )
    if isinstance(value, TextValue):
        toolbox.evidence.add_note(f"{value.text}{uncertain}")
    if isinstance(value, Frames):
        frames: Sequence[StoredFrame] = functions.middles(value.items, most_frames)
        ids = list(dict.fromkeys(frame.event_id for frame in frames))
    else:
        of = value.of if isinstance(value, NumberValue | TextValue) else value
        moments = of if isinstance(of, Moments) else functions.track(run, of)
        ids = list(moments.event_ids)
        frames = functions.frames(run, Moments(moments.items[:MOST_SHOWN]), most_frames).items
    for event in sorted(toolbox.load(ids[:MOST_SHOWN]), key=lambda event: (event.video_id, event.span, event.id)):
        toolbox.evidence.label_event(event)
    return tuple(frames)


def _counted_objects(run: Run, of: Moments | Things) -> str:
    """Return the objects that were counted with their numbers and when each is first seen."""
    if isinstance(of, Moments):
        return ""
    toolbox = run.toolbox
    named = [
        f"{toolbox.evidence.label_object(thing.stored)} {as_data(thing.words)} "
        f"{toolbox.place(thing.video_id, thing.spans[0])}"
        for thing in of.items[:MOST_OBJECTS_NAMED]
        if thing.stored is not None and thing.spans
    ]
    rest = f" and {len(of.items) - len(named)} more" if named and len(of.items) > len(named) else ""
    return f" {'; '.join(named)}{rest}" if named else ""
