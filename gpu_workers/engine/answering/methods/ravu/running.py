"""Running a checked program, step by step, within a fixed number of reads and model calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from gpu_workers.engine.answering.methods.ravu import functions
from gpu_workers.engine.answering.methods.ravu.checking import CheckedProgram, CheckedStep
from gpu_workers.engine.answering.methods.ravu.finding import MOST_PARTS, filter_moments, localize
from gpu_workers.engine.answering.methods.ravu.neighbouring import neighbors
from gpu_workers.engine.answering.methods.ravu.program import Given, Ref
from gpu_workers.engine.answering.methods.ravu.state import NoVerdict, Run
from gpu_workers.engine.answering.methods.ravu.values import Value, is_empty
from gpu_workers.engine.models.roles import ModelError

MOST_READS = functions.MOST_VIDEOS * functions.MOST_WINDOWS + MOST_PARTS + 4
"""Maximum number of reads of the graph in one step: `before` in many videos, or a search in many stretches of time."""

Call = Callable[..., Value]

OPERATIONS: Mapping[str, tuple[Call, tuple[str, ...]]] = {
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
    ended = False
    for step in program.steps:
        if ended:
            steps.append(StepRun(step, None, "skipped"))
            continue
        run.notes.clear()
        began = run.desk.calls.spending.elapsed_ms()
        value, error = _value(run, step, values)
        took = run.desk.calls.spending.elapsed_ms() - began
        steps.append(StepRun(step, value, error, tuple(run.notes), began, took))
        if value is None or error:
            ended = True
        else:
            values[step.out] = value
    return Outcome(tuple(steps))


def _value(run: Run, step: CheckedStep, values: Mapping[str, Value]) -> tuple[Value | None, str]:
    call, parameters = OPERATIONS[step.op]
    arguments = [_argument(step.arguments[name], values) for name in parameters]
    try:
        value = call(run, *arguments)
    except (ModelError, NoVerdict) as error:
        return None, error.code
    return value, "nothing_found" if is_empty(value) else ""


def _argument(given: Given | None, values: Mapping[str, Value]) -> Any:
    return cast(Any, values[given.name] if isinstance(given, Ref) else given)
