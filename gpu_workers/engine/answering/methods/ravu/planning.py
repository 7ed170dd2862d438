"""Asking the reasoner for a program: one call, and one repair of a program that cannot run."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.budget import BudgetSpent, Halt
from gpu_workers.engine.answering.methods.ravu.checking import CheckedProgram, check
from gpu_workers.engine.answering.methods.ravu.finding import MOST_OBJECTS
from gpu_workers.engine.answering.methods.ravu.program import BadProgram, program_schema, table
from gpu_workers.engine.answering.methods.ravu.reading import read_program
from gpu_workers.engine.answering.wording import as_data, choice_lines, conversation, search_line
from gpu_workers.engine.models.roles import Message, Meter, ModelError
from gpu_workers.engine.prompts import load

PLAN_PROMPTS = frozenset({"ravu_plan", "ravu_question", "ravu_repair"})

PROGRAM_TOKENS = 700
"""Maximum tokens of a program: twelve steps in JSON."""

WRITTEN_CHARACTERS = 2_000
"""Maximum characters of a faulty program that a repair repeats."""

MOST_CATEGORIES = 20


@dataclass(slots=True)
class Attempt:
    """One request for a program. text: as the reasoner wrote it. error: "" or a stable code: "bad_program",
    "model_refused", that of a model or of a limit. faults: what makes the program bad."""

    text: str = ""
    error: str = ""
    faults: tuple[str, ...] = ()
    started_ms: int = 0
    wall_ms: int = 0
    meter: Meter = field(default_factory=Meter)


def opening(desk: Desk, *, steps: int) -> list[Message]:
    """Return the conversation that asks for a program. Its first message is the same for every question, so that a
    server's prefix cache holds it."""
    question = desk.asked.question
    videos = len(desk.extents)
    longest = max((span.end_ms for span in desk.extents.values()), default=0)
    length = f"{max(1, round(longest / 60_000))} minutes"
    categories = object_categories(desk)
    user = load("ravu_question", question.profile).substitute(
        videos=f"one video of {length}" if videos == 1 else f"{videos} videos of up to {length}",
        targets=", ".join(targets(desk)),
        categories=f" Objects: {', '.join(categories)}." if categories else "",
        steps=steps,
        conversation=f"<text>\n{conversation(question.history)}\n</text>\n" if question.history else "",
        question=question.question,
        choices=choice_lines(question.choices),
        language=search_line(desk.asked.question_language),
    )
    rules = load("ravu_plan", question.profile).substitute(functions=table())
    return [Message("system", (rules,)), Message("user", (user,))]


def targets(desk: Desk) -> tuple[str, ...]:
    """Return what `localize` can find in this scope."""
    there = desk.artifacts
    return (
        "event",
        *(("frame",) if "frames" in there else ()),
        "entity",
        *(("object",) if "objects" in there else ()),
    )


def object_categories(desk: Desk) -> list[str]:
    """Return the categories of the objects in scope, as data, the most frequent first."""
    if "objects" not in desk.artifacts:
        return []
    counts: dict[str, int] = {}
    for stored in desk.asked.graph.objects(limit=MOST_OBJECTS):
        counts[as_data(stored.category)] = counts.get(as_data(stored.category), 0) + 1
    return sorted(counts, key=lambda word: (-counts[word], word))[:MOST_CATEGORIES]


def ask_for_program(
    desk: Desk, conversation: list[Message], *, steps: int, meter: Meter
) -> tuple[CheckedProgram | None, Attempt]:
    """Return a program that can run, or None; and what was written. Raises nothing; a Halt is recorded on the calls.

    If the program is bad, conversation grows by it and by its faults, and can be asked again.
    """
    calls, asked = desk.calls, desk.asked
    attempt = Attempt(started_ms=calls.spending.elapsed_ms(), meter=meter)
    program: CheckedProgram | None = None
    try:
        sample = calls.ask(
            conversation,
            stage="program",
            meter=meter,
            schema=program_schema(steps=steps, targets=targets(desk)),
            max_tokens=PROGRAM_TOKENS,
            seed=asked.seed_of(f"program {len(conversation)}"),
        )[0]
        attempt.text = sample.text
        attempt.error = "model_refused" if sample.refused else ""
        if not sample.refused:
            program = check(read_program(sample.text), steps=steps, targets=targets(desk))
    except BadProgram as bad:
        attempt.error, attempt.faults = "bad_program", bad.faults
        repair = load("ravu_repair", asked.question.profile).substitute(faults="; ".join(bad.faults))
        conversation += [
            Message("assistant", (as_data(attempt.text)[:WRITTEN_CHARACTERS] or "nothing",)),
            Message("user", (repair,)),
        ]
    except Halt as halt:
        calls.halt(halt)
        attempt.error = halt.code
    except ModelError as error:
        if calls.spending.out_of_time():
            calls.halt(BudgetSpent("max_seconds"))
        attempt.error = error.code
    attempt.wall_ms = calls.spending.elapsed_ms() - attempt.started_ms
    return program, attempt
