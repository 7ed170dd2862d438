"""`ravu`: the question as a short program over the graph, run on it, and an answer from what it found (RAVU, arXiv
2505.03173, of which only a machine-written digest was read; the functions are ours).

A program is checked before it runs and repaired at most once. A program that cannot run, or that finds nothing, is
recorded, and the question itself is searched instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gpu_workers.engine.answering.agent.evidence_answer import FINAL_PROMPTS, MethodResult, answer_from_evidence
from gpu_workers.engine.answering.agent.step_records import step_detail, tokens_of
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import BranchMeter, Halt
from gpu_workers.engine.answering.calls import Calls, count_prompt
from gpu_workers.engine.answering.catalogue import CATALOGUE
from gpu_workers.engine.answering.contract import Answer, NodeRecord
from gpu_workers.engine.answering.identity import CHECK_PROMPTS, OBSERVE_PROMPTS, QUESTION_PROMPTS
from gpu_workers.engine.answering.looking.frame_check import look_task
from gpu_workers.engine.answering.method_settings import RAVU, RavuSettings
from gpu_workers.engine.answering.methods.method import CataloguedMethod
from gpu_workers.engine.answering.methods.ravu.checker import CheckedProgram, check, read_program
from gpu_workers.engine.answering.methods.ravu.finding import MOST_OBJECTS, nearest
from gpu_workers.engine.answering.methods.ravu.program import BadProgram, program_schema, table
from gpu_workers.engine.answering.methods.ravu.running import (
    SHOWN_TOKENS,
    in_words,
    recorded_events,
    run_program,
    show,
    step_record,
)
from gpu_workers.engine.answering.methods.ravu.values import Moments, Run, Value
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.presets import changed
from gpu_workers.engine.answering.wording import as_data, choice_lines, conversation, search_line
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.ports import StoredFrame
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.frames import frame_evidence

MOST_CALLS = 8
"""Maximum number of model calls: plan, repair, four rankings, a filter and the answer; or a look instead of one."""

ANSWER_TOKENS = 2_000
"""Tokens of an answer's prompt, next to the events that it shows: rules, question, notes, findings."""

PROGRAM_TOKENS = 700
"""Maximum tokens of a program: twelve steps in JSON."""

WRITTEN_CHARACTERS = 2_000
"""Maximum characters of a faulty program that a repair repeats."""

MOST_CATEGORIES = 20


class Ravu(CataloguedMethod, card=CATALOGUE["ravu"]):
    prompts = (
        QUESTION_PROMPTS
        | FINAL_PROMPTS
        | OBSERVE_PROMPTS
        | CHECK_PROMPTS
        | {"ravu_plan", "ravu_question", "ravu_repair", "rank_texts", "judge_events"}
    )

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        """Answer from what the program finds. Raises ModelError if nothing could be found and nothing answered."""
        toolbox = Toolbox(asked, calls)
        if not toolbox.extents:
            return answer_from_evidence(toolbox, MethodResult(self.needs))
        course = _ProgramCourse(toolbox)
        frames: Sequence[StoredFrame] = ()
        proposed: ParsedAnswer | None = None
        error: ModelError | None = None
        with calls.timed("search"):
            try:
                value = course.found()
                frames = show(course.run, value, most_frames=RAVU[asked.settings.effort].frames)
            except ModelError as failure:
                error = failure
        if frames:
            with calls.timed("check"):
                proposed = course.look(frames)
        return answer_from_evidence(toolbox, MethodResult(self.needs, course.records, proposed, error=error))


@dataclass(slots=True)
class _ProgramCourse:
    """One question on its way: its run and its records. dialogue: that asks for a program."""

    toolbox: Toolbox
    run: Run = field(init=False)
    dialogue: list[Message] = field(init=False)
    records: list[NodeRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dialogue = opening(self.toolbox, steps=self.own.program_steps)
        # The answer's call is kept back.
        self.run = Run(self.toolbox, self.own.reranks, MOST_CALLS - 1, self._holds)

    @property
    def own(self) -> RavuSettings:
        return RAVU[self.toolbox.asked.settings.effort]

    def found(self) -> Value:
        """Return the program's value, or what the question itself finds. Raises ModelError of an embedder."""
        program, why = self._program()
        if program is not None:
            outcome = run_program(program, self.run)
            for number, step in enumerate(outcome.steps, start=1):
                self.records.append(step_record(self.toolbox, number, step))
                self.toolbox.calls.on_progress("search", number, len(outcome.steps), step.step.op)
            if outcome.value is not None:
                return outcome.value
            why = outcome.error
        return self._fallback(why)

    def _program(self) -> tuple[CheckedProgram | None, str]:
        """Return a program that can run, after at most one repair; or None and why there is none."""
        why = ""
        for path in ("ravu", "ravu/repair"):
            if not self.run.take_call():
                return None, why or "no call is left for a program"
            program, record = ask_for_program(self.toolbox, self.dialogue, path, steps=self.own.program_steps)
            self.records.append(record)
            self.toolbox.calls.on_progress("search", len(self.records), len(self.records), "program")
            why = record.note or record.error
            if program is not None or not record.note:
                return program, why
        return None, why

    def _fallback(self, why: str) -> Moments:
        """Search with the question itself, and record it. why: what made the program useless."""
        toolbox, found, error = self.toolbox, Moments(), ""
        try:
            found = nearest(self.run, toolbox.asked.query)
            error = "" if found.items else "nothing_found"
        except ModelError as failure:
            error = failure.code
            raise
        finally:
            self.records.append(
                NodeRecord(
                    "ravu/fallback",
                    2,
                    "fallback",
                    events=recorded_events(toolbox, found),
                    error=error,
                    note=why,
                    started_ms=toolbox.calls.spending.elapsed_ms(),
                    detail=step_detail("localize", {"phrase": toolbox.asked.searched}, in_words(found), error),
                )
            )
        return found

    def look(self, shown: Sequence[StoredFrame]) -> ParsedAnswer | None:
        """Look at the frames in one request, if there is a model that can and room for it; else the events' words must
        do. At effort `paper` the model answers from the frames itself, and its answer is returned."""
        toolbox, calls = self.toolbox, self.toolbox.calls
        checker = toolbox.asked.models.checker
        if checker is None or not self.run.take_call():
            return None
        began = calls.spending.elapsed_ms()
        toolbox.meter = meter = BranchMeter(calls.meter)
        # One request shows one video.
        frames = [frame for frame in shown if frame.video_id == shown[0].video_id][: checker.max_frames]
        proposed: ParsedAnswer | None = None
        seen: list[str] = []
        try:
            if toolbox.asked.settings.effort == "paper":
                proposed, error = self._checked(frames)
            else:
                findings, error = toolbox.look(toolbox.asked.question.question, frames)
                seen = [finding.in_words("") for finding in findings]
        except Halt as halt:
            calls.halt(halt)
            error = halt.code
        finally:
            toolbox.meter = calls.meter
        self.records.append(
            NodeRecord(
                "ravu/look",
                2,
                "look",
                error=error,
                frames_used=len(frames),
                frames_available=len(frames),
                seen=tuple(seen),
                started_ms=began,
                wall_ms=calls.spending.elapsed_ms() - began,
                detail=step_detail("look", {"frames": len(frames)}, "\n".join(seen), error),
                **tokens_of(meter),
            )
        )
        calls.on_progress("check", 1, 1, f"{len(frames)} frames")
        return proposed

    def _checked(self, frames: list[StoredFrame]) -> tuple[ParsedAnswer | None, str]:
        """Return the checker's answer from the frames, which cites their events; and "" or why there is none."""
        asked = self.toolbox.asked
        asked = replace(asked, settings=changed(asked.settings, check_samples=1))
        events = self.toolbox.load(frame.event_id for frame in frames)
        draw = look_task(asked, self.toolbox.calls, frame_evidence(asked.graph, frames, events), ())()
        if draw.halt is not None:
            raise draw.halt
        parsed = draw.parsed[0] if draw.parsed else None
        numbers = tuple(self.toolbox.evidence.numbers[event.id] for event in events)
        return (replace(parsed, cited=numbers) if parsed is not None else None), draw.error

    def _holds(self) -> bool:
        """Whether the budget has room for one more call and the answer."""
        asked = self.toolbox.asked
        reasoner = asked.models.reasoner
        words = count_prompt(reasoner.count_tokens, self.dialogue)
        answer = ANSWER_TOKENS + self.own.frames * SHOWN_TOKENS
        written = PROGRAM_TOKENS + asked.settings.prompt.answer_tokens
        return self.toolbox.calls.spending.holds(2, words + answer, written, reasoner.name)


# --- asking for a program --------------------------------------------------------------------------------------------


def opening(toolbox: Toolbox, *, steps: int) -> list[Message]:
    """Return the conversation that asks for a program. Its first message is the same for every question, so that a
    server's prefix cache holds it."""
    question = toolbox.asked.question
    videos = len(toolbox.extents)
    longest = max((span.end_ms for span in toolbox.extents.values()), default=0)
    length = f"{max(1, round(longest / 60_000))} minutes"
    categories = object_categories(toolbox)
    user = load("ravu_question", question.profile).substitute(
        videos=f"one video of {length}" if videos == 1 else f"{videos} videos of up to {length}",
        targets=", ".join(targets(toolbox)),
        categories=f" Objects: {', '.join(categories)}." if categories else "",
        steps=steps,
        conversation=f"<text>\n{conversation(question.history)}\n</text>\n" if question.history else "",
        question=question.question,
        choices=choice_lines(question.choices),
        language=search_line(toolbox.asked.question_language),
    )
    rules = load("ravu_plan", question.profile).substitute(functions=table())
    return [Message("system", (rules,)), Message("user", (user,))]


def targets(toolbox: Toolbox) -> tuple[str, ...]:
    """Return what `localize` can find in this scope."""
    frames = ("frame",) if "frames" in toolbox.artifacts else ()
    objects = ("object",) if "objects" in toolbox.artifacts else ()
    return ("event", *frames, "entity", *objects)


def object_categories(toolbox: Toolbox) -> list[str]:
    """Return the categories of the objects in scope, as data, the most frequent first."""
    if "objects" not in toolbox.artifacts:
        return []
    counts = Counter(as_data(stored.category) for stored in toolbox.asked.graph.objects(limit=MOST_OBJECTS))
    return sorted(counts, key=lambda word: (-counts[word], word))[:MOST_CATEGORIES]


def ask_for_program(
    toolbox: Toolbox, dialogue: list[Message], path: str, *, steps: int
) -> tuple[CheckedProgram | None, NodeRecord]:
    """Return a program that can run, or None; and the record of the request. Raises nothing; a Halt is recorded on the
    calls. Codes of the record: "bad_program", "model_refused", or that of a model or of a limit.

    If the program is bad, dialogue grows by it and by its faults (the record's note), and can be asked again.
    """
    calls, asked = toolbox.calls, toolbox.asked
    began, meter = calls.spending.elapsed_ms(), BranchMeter(calls.meter)
    program: CheckedProgram | None = None
    text, error = "", ""
    faults: tuple[str, ...] = ()
    try:
        sample = calls.ask(
            dialogue,
            stage="program",
            meter=meter,
            schema=program_schema(steps=steps, targets=targets(toolbox)),
            max_tokens=PROGRAM_TOKENS,
            seed=asked.seed_of(f"program {len(dialogue)}"),
        )[0]
        text = sample.text
        error = "model_refused" if sample.refused else ""
        if not sample.refused:
            program = check(read_program(text), steps=steps, targets=targets(toolbox))
    except BadProgram as bad:
        error, faults = "bad_program", bad.faults
        repair = load("ravu_repair", asked.question.profile).substitute(faults="; ".join(faults))
        written = as_data(text)[:WRITTEN_CHARACTERS] or "nothing"
        dialogue += [Message("assistant", (written,)), Message("user", (repair,))]
    except (Halt, ModelError) as failure:
        error = toolbox.record_failure(failure)
    record = NodeRecord(
        path,
        path.count("/") + 1,
        "program",
        error=error,
        note="; ".join(faults),
        started_ms=began,
        wall_ms=calls.spending.elapsed_ms() - began,
        detail=step_detail("program", {}, text, error),
        **tokens_of(meter),
    )
    return program, record
