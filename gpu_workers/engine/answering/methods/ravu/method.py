"""`ravu`: the question as a short program over the graph, run on it, and an answer from what it found (RAVU, arXiv
2505.03173, of which only a machine-written digest was read; the functions are ours).

A program is checked before it runs and repaired at most once. A program that cannot run, or that finds nothing, is
recorded, and the question itself is searched instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gpu_workers.engine.answering.agent.dossier import DOSSIER_PROMPTS, answer_from
from gpu_workers.engine.answering.agent.tools.contract import Artifact
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import BranchMeter, Halt
from gpu_workers.engine.answering.calls import Calls, count_prompt
from gpu_workers.engine.answering.contract import Answer, NodeRecord
from gpu_workers.engine.answering.identity import CHECK_PROMPTS, OBSERVE_PROMPTS, QUESTION_PROMPTS
from gpu_workers.engine.answering.looking.frame_check import look_task
from gpu_workers.engine.answering.method_settings import RAVU, RavuSettings
from gpu_workers.engine.answering.methods.contract import TypicalCalls
from gpu_workers.engine.answering.methods.ravu.checking import CheckedProgram
from gpu_workers.engine.answering.methods.ravu.finding import nearest
from gpu_workers.engine.answering.methods.ravu.planning import (
    PLAN_PROMPTS,
    PROGRAM_TOKENS,
    ask_for_program,
    opening,
)
from gpu_workers.engine.answering.methods.ravu.records import (
    attempt_record,
    fallback_record,
    look_record,
    step_record,
)
from gpu_workers.engine.answering.methods.ravu.running import run_program
from gpu_workers.engine.answering.methods.ravu.showing import EVENT_TOKENS, Shown, show
from gpu_workers.engine.answering.methods.ravu.state import Run
from gpu_workers.engine.answering.methods.ravu.values import Moments, Value
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.presets import changed
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.ports import StoredFrame
from gpu_workers.engine.retrieval.frames import frame_evidence

MOST_CALLS = 8
"""Maximum number of model calls: plan, repair, four rankings, a filter and the answer; or a look instead of one."""

ANSWER_TOKENS = 2_000
"""Tokens of an answer's prompt, next to the events that it shows: rules, question, notes, findings."""


class Ravu:
    name = "ravu"
    version = "3"
    description = (
        "Writes a short program over people, things, places and times, runs it on the index and looks at the result."
    )
    needs: frozenset[Artifact] = frozenset({"events", "frames", "objects", "checker"})
    typical_calls: TypicalCalls = {"low": (2, 4), "medium": (4, 8), "high": (4, 8), "paper": (3, 8)}
    prompts = (
        QUESTION_PROMPTS
        | PLAN_PROMPTS
        | DOSSIER_PROMPTS
        | OBSERVE_PROMPTS
        | CHECK_PROMPTS
        | {"rank_texts", "judge_events"}
    )

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        """Answer from what the program finds. Raises ModelError if nothing could be found and nothing answered."""
        return _Question(asked, calls).answer()


@dataclass(slots=True)
class _Question:
    """One question on its way: its desk, its run and its records. conversation: that asks for a program."""

    asked: Asked
    calls: Calls
    desk: Desk = field(init=False)
    run: Run = field(init=False)
    conversation: list[Message] = field(default_factory=list)
    records: list[NodeRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.desk = Desk(self.asked, self.calls)
        # The answer's call is kept back.
        self.run = Run(self.desk, self.calls.meter, self.own.reranks, MOST_CALLS - 1, self._holds)

    @property
    def own(self) -> RavuSettings:
        return RAVU[self.asked.settings.effort]

    def answer(self) -> Answer:
        error: ModelError | None = None
        shown: Shown | None = None
        proposed: ParsedAnswer | None = None
        if not self.desk.extents:
            return answer_from(self.desk, records=(), top_similarity=0.0, needs=Ravu.needs)
        with self.calls.timed("search"):
            program, why = self._program()
            value, why = self._value(program) if program is not None else (None, why)
            try:
                if value is None:
                    value = self._fallback(why)
                shown = show(self.run, value, most_frames=self.own.frames)
            except ModelError as failure:
                error = failure
        if shown is not None and shown.frames:
            with self.calls.timed("check"):
                proposed = self._look(shown)
        return answer_from(
            self.desk,
            records=self.records,
            top_similarity=self.run.top_similarity,
            needs=Ravu.needs,
            proposed=proposed,
            error=error,
        )

    def _program(self) -> tuple[CheckedProgram | None, str]:
        """Return a program that can run, after at most one repair; or None and why there is none."""
        steps = self.own.program_steps
        self.conversation = opening(self.desk, steps=steps)
        why = ""
        for path in ("ravu", "ravu/repair"):
            if not self.run.take_call():
                return None, why or "no call is left for a program"
            program, attempt = ask_for_program(
                self.desk, self.conversation, steps=steps, meter=BranchMeter(self.calls.meter)
            )
            self.records.append(attempt_record(path, attempt))
            self.calls.on_progress("search", len(self.records), len(self.records), "program")
            why = "; ".join(attempt.faults) or attempt.error
            if program is not None or not attempt.faults:
                return program, why
        return None, why

    def _value(self, program: CheckedProgram) -> tuple[Value | None, str]:
        """Run the program. Return its value; or None and which step found nothing."""
        outcome = run_program(program, self.run)
        for number, step in enumerate(outcome.steps, start=1):
            self.records.append(step_record(self.desk, number, step))
            self.calls.on_progress("search", number, len(outcome.steps), step.step.op)
        return outcome.value, outcome.error

    def _fallback(self, why: str) -> Moments:
        """Search with the question itself, and record it. Raises ModelError of an embedder."""
        found = Moments()
        text = self.asked.query
        try:
            found = nearest(self.run, text)
        except ModelError as error:
            self.records.append(fallback_record(self.desk, why, found, error.code))
            raise
        self.records.append(fallback_record(self.desk, why, found, "" if found.items else "nothing_found"))
        return found

    # --- looking at what was found -----------------------------------------------------------------------------------

    def _look(self, shown: Shown) -> ParsedAnswer | None:
        """Look at the frames in one request, if there is a model that can and room for it; else the events' words must
        do. At effort `paper` the model answers from the frames itself, and its answer is returned."""
        checker = self.asked.models.checker
        if checker is None or not self.run.take_call():
            return None
        began, meter = self.calls.spending.elapsed_ms(), BranchMeter(self.calls.meter)
        self.desk.meter = meter
        # One request shows one video.
        frames = [frame for frame in shown.frames if frame.video_id == shown.frames[0].video_id][: checker.max_frames]
        proposed: ParsedAnswer | None = None
        seen: list[str] = []
        error = ""
        try:
            if self.asked.settings.effort == "paper":
                proposed, error = self._checked(frames)
            else:
                findings, error = self.desk.look(self.asked.question.question, frames)
                seen = [finding.in_words("") for finding in findings]
        except Halt as halt:
            self.calls.halt(halt)
            error = halt.code
        finally:
            self.desk.meter = self.calls.meter
        took = self.calls.spending.elapsed_ms() - began
        self.records.append(look_record(len(frames), seen, error, started_ms=began, wall_ms=took, meter=meter))
        self.calls.on_progress("check", 1, 1, f"{len(frames)} frames")
        return proposed

    def _checked(self, frames: list[StoredFrame]) -> tuple[ParsedAnswer | None, str]:
        """Return the checker's answer from the frames, which cites their events; and "" or why there is none."""
        asked = replace(self.asked, settings=changed(self.asked.settings, check_samples=1))
        events = self.desk.load(frame.event_id for frame in frames)
        draw = look_task(asked, self.calls, frame_evidence(asked.graph, frames, events), ())()
        if draw.halt is not None:
            raise draw.halt
        parsed = draw.parsed[0] if draw.parsed else None
        numbers = tuple(self.desk.sightings.numbers[event.id] for event in events)
        return (replace(parsed, cited=numbers) if parsed is not None else None), draw.error

    # --- room --------------------------------------------------------------------------------------------------------

    def _holds(self) -> bool:
        """Whether the budget has room for one more call and the answer."""
        reasoner = self.asked.models.reasoner
        words = count_prompt(reasoner.count_tokens, self.conversation)
        answer = ANSWER_TOKENS + self.own.frames * EVENT_TOKENS
        written = PROGRAM_TOKENS + self.asked.settings.prompt.answer_tokens
        return self.calls.spending.holds(2, words + answer, written, reasoner.name)
