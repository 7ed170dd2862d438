"""Random programs for `ravu`: most look valid, some are broken in one place, some are garbage.

None may raise anything but BadProgram, and every one that passes its check must end within its bound of reads.
"""

from __future__ import annotations

import json
import random
import string
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.figures import Figure, Figures, at_most
from bench.instant_models import EqualTexts
from bench.program_world import WORDS, BagOfWords, CountingGraph, RandomReasoner, small_world
from gpu_workers.engine.answering.agent.step_records import StepRecorder
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Spending
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Budget, NodeRecord, QuestionInput
from gpu_workers.engine.answering.methods.ravu.functions import FUNCTIONS, TARGETS, Function, Parameter
from gpu_workers.engine.answering.methods.ravu.program import (
    MOST_CALLED,
    BadProgram,
    Program,
    read_program,
    run_program,
)
from gpu_workers.engine.answering.methods.ravu.values import MOST_VIDEOS, Run, Value
from gpu_workers.engine.answering.presets import settings_for
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import AnswerModels, Meter

PROGRAMS = 2_000
MOST_READS = 2 * MOST_VIDEOS + 8
"""Maximum number of reads of the graph in one step: one or two in each of many videos, and those of its record."""
RELATIONS = ("left_of", "near", "above", "plays with", "looks at", "")


# --- programs --------------------------------------------------------------------------------------------------------


def random_program(choices: random.Random) -> str:
    """Return the text of a program, as a model could write it."""
    if choices.random() < 0.15:
        return _garbage(choices)
    steps = _steps(choices)
    if choices.random() < 0.3:
        _break(choices, steps)
    text = json.dumps({"steps": steps})
    return text[: choices.randint(0, len(text))] if choices.random() < 0.05 else text


def _steps(choices: random.Random) -> list[dict[str, Any]]:
    """Return steps that pass the check, mostly: their arguments have the right types."""
    types: dict[str, str] = {}
    steps: list[dict[str, Any]] = []
    left = dict(MOST_CALLED)
    for n in range(choices.randint(1, 9)):
        fitting = [f for f in FUNCTIONS.values() if left.get(f.name, 1) and _can_be_called(f, types)]
        function = choices.choice(fitting)
        left[function.name] = left.get(function.name, 2) - (function.name in left)
        step: dict[str, Any] = {"op": function.name}
        for parameter in function.parameters:
            if parameter.required or choices.random() < 0.5:
                given = _argument(choices, parameter, types, step)
                if given is not None:
                    step[parameter.name] = given
        steps.append({**step, "out": f"v{n}"})
        types[f"v{n}"] = _type_of(function, step, types)
    while len(steps) > 1 and types[steps[-1]["out"]] == "things":
        steps.pop()
    return steps


def _can_be_called(function: Function, types: Mapping[str, str]) -> bool:
    wanted = [p for p in function.parameters if p.required and p.kind == "value"]
    return all(set(parameter.types) & set(types.values()) for parameter in wanted)


def _argument(choices: random.Random, parameter: Parameter, types: Mapping[str, str], step: Mapping[str, Any]) -> Any:
    """Return an argument of the right type; None if there is none. The two of a pair have one type."""
    match parameter.kind:
        case "phrase":
            words = RELATIONS if parameter.name == "relation" else WORDS
            return " ".join(choices.choice(words) for _ in range(choices.randint(1, 3)))
        case "number":
            return choices.randint(1, parameter.most)
        case "target":
            return choices.choice(TARGETS)
        case "value":
            kinds = (types[step["a"]],) if parameter.name == "b" else parameter.types
            fitting = [name for name, kind in types.items() if kind in kinds]
            return choices.choice(fitting) if fitting else None


def _type_of(function: Function, step: Mapping[str, Any], types: Mapping[str, str]) -> str:
    if function.gives == "same":
        return types[step["a"]]
    if function.gives == "what":
        return "moments" if step.get("what", "event") in ("event", "frame") else "things"
    return function.gives


def _break(choices: random.Random, steps: list[dict[str, Any]]) -> None:
    step = choices.choice(steps)
    name = choices.choice(list(step))
    value = choices.choice(
        [10**9, -1, 0, 2.5, True, None, "", "__class__", "v0", "x" * 300, [1], {"a": 1}, "\0", "\ud800", "'\"\\"]
    )
    match choices.randint(0, 3):
        case 0:
            step[name] = value
        case 1:
            del step[name]
        case 2:
            step[choices.choice(["video_id", "limit", "self", "of"])] = value
        case _:
            steps += [dict(step) for _ in range(choices.choice([1, 5, 200]))]


def _garbage(choices: random.Random) -> str:
    return choices.choice(
        [
            "-" * choices.randint(1, 3_000),
            "a" + ".c" * choices.randint(1, 3_000),
            "(" * choices.randint(1, 3_000),
            '{"steps": ' * choices.randint(1, 3_000),
            '{"steps": [' + "[" * choices.randint(1, 3_000),
            "x" * choices.choice([10, 1_000_000]),
            "a = __import__('os').system('true')",
            "a = (lambda: 1)()",
            "while True: pass",
            "a = [1] * 10**12",
            "a = 10 ** 10 ** 10",
            f"a = frames({'9' * choices.randint(1, 1_900)})",
            "".join(choices.choice(string.printable) for _ in range(choices.randint(0, 200))),
        ]
    )


# --- running ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program came to. error: why it has no value."""

    value: Value | None
    error: str
    records: tuple[NodeRecord, ...]


def read_or_refuse(text: str) -> Program | None:
    """Return a program that can run; None for a bad one. Anything else that is raised is a fault of ours."""
    try:
        return read_program(text)
    except BadProgram:
        return None


def run_once(program: Program, graph: Any, reasoner: RandomReasoner) -> Ran:
    """Run a program over a graph with eight model calls, as a question may make."""
    embedder, meter = BagOfWords(), Meter()
    models = AnswerModels(reasoner, embedder, embedder, EqualTexts(), UNMEASURED)
    spending = Spending(Budget(), meter, clock=time.monotonic, should_stop=lambda: False)
    question = QuestionInput("What happens?", method="ravu")
    asked = Asked(question, graph, models, settings_for("medium", UNMEASURED), question.question)
    toolbox = Toolbox(asked, Calls(models, spending=spending, meter=meter, in_flight=1))
    recorder = StepRecorder(toolbox, total=1)
    value, error = run_program(program, Run(toolbox, ranks=True, calls_left=6, holds=lambda: True), recorder)
    return Ran(value, error, tuple(recorder.records))


def programs() -> Figures:
    """Read, check and run random programs. No exception, and a bound of reads and calls for each that is checked."""
    graph, choices = small_world(), random.Random(1)
    raised: list[str] = []
    checked, most_reads, most_share, most_calls, valued = 0, 0, 0.0, 0, 0
    for _ in range(PROGRAMS):
        text = random_program(choices)
        counting, reasoner = CountingGraph(graph), RandomReasoner(choices)
        try:
            program = read_or_refuse(text)
            if program is None:
                continue
            checked += 1
            outcome = run_once(program, counting, reasoner)
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is counted
            raised.append(f"{type(error).__name__}: {error}")
            continue
        reads = counting.reads.total()
        valued += outcome.value is not None
        most_reads, most_calls = max(most_reads, reads), max(most_calls, reasoner.calls)
        most_share = max(most_share, reads / (len(program) * MOST_READS))
    counted = f"{PROGRAMS} random programs, {checked} of which pass their check and {valued} of which give a value"
    yield at_most("programs_exceptions", len(raised), 0, f"{counted}; {raised[:1] or 'none raised'}")
    yield at_most(
        "programs_most_reads_share", most_share, 1.0, f"{most_reads} reads at most; {MOST_READS} are allowed a step"
    )
    yield at_most("programs_most_calls", most_calls, 5, "model calls of a program: four rankings and a filter")
    yield Figure("programs_checked_share", round(checked / PROGRAMS, 4), "none", True, counted)
