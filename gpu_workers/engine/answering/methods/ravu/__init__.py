"""`ravu`: the question as a short program over the graph, run on it, and an answer from what it found (RAVU, arXiv
2505.03173, of which only a machine-written digest was read; the functions are ours).

A program is checked before it runs and repaired at most once. A program that cannot run, or that finds nothing, is
recorded, and the question itself is searched instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpu_workers.engine.answering.agent.evidence_answer import MethodResult, answer_from_evidence
from gpu_workers.engine.answering.agent.frame_tools import look_at_frames
from gpu_workers.engine.answering.agent.step_records import RecordedStep, StepRecorder
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls, count_prompt
from gpu_workers.engine.answering.catalogue import CATALOGUE, RAVU
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.looking.frame_check import look_task
from gpu_workers.engine.answering.methods.method import CataloguedMethod
from gpu_workers.engine.answering.methods.ravu.finding import MOST_OBJECTS, nearest
from gpu_workers.engine.answering.methods.ravu.functions import FUNCTIONS, frames, middles, track
from gpu_workers.engine.answering.methods.ravu.program import (
    BadProgram,
    Program,
    behind,
    program_schema,
    read_program,
    run_program,
)
from gpu_workers.engine.answering.methods.ravu.values import Frames, Moments, NumberValue, Run, TextValue, Things, Value
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.presets import changed, own_settings
from gpu_workers.engine.answering.wording import as_data, choice_lines, search_line
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.ports import StoredFrame
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.frames import frame_evidence
from gpu_workers.engine.retrieval.object_names import categories_there

MOST_CALLS = 8
"""Maximum number of model calls: plan, repair, four rankings, a filter and the answer; or a look instead of one."""

ANSWER_TOKENS, SHOWN_TOKENS = 2_000, 160
"""Tokens of an answer's prompt: rules, question, notes and findings; and of each event that it shows."""

PROGRAM_TOKENS = 700
"""Maximum tokens of a program: twelve steps in JSON."""

WRITTEN_CHARACTERS = 2_000
"""Maximum characters of a faulty program that a repair repeats."""

MOST_SHOWN = 16
"""Maximum number of events that are shown, as many as an answer of `ava` reads at most."""

MOST_OBJECTS_NAMED = 20
"""Maximum number of objects in the words of a count."""


class Ravu(CataloguedMethod, card=CATALOGUE["ravu"]):
    def answer(self, asked: Asked, calls: Calls) -> Answer:
        """Answer from what the program finds. Raises ModelError if nothing could be found and nothing answered."""
        toolbox = Toolbox(asked, calls)
        recorder = StepRecorder(toolbox, total=2 + own_settings(asked.settings, RAVU).program_steps)
        proposed: ParsedAnswer | None = None
        with recorder.course():
            if toolbox.extents:
                search = _Search(toolbox, recorder)
                with calls.timed("search"):
                    shown = show(search.run, search.value(), most_frames=search.settings.frames)
                if shown:
                    with calls.timed("check"):
                        proposed = search.look(shown)
        return answer_from_evidence(toolbox, MethodResult(self.needs, recorder.records, proposed, error=recorder.error))


class _Search:
    """The search of one question. dialogue: that asks for a program."""

    def __init__(self, toolbox: Toolbox, recorder: StepRecorder) -> None:
        self.toolbox, self.recorder = toolbox, recorder
        self.settings = own_settings(toolbox.asked.settings, RAVU)
        self.dialogue = opening(toolbox, steps=self.settings.program_steps)
        # The answer's call is kept back.
        self.run = Run(
            toolbox,
            self.settings.reranks,
            MOST_CALLS - 1,
            self._holds,
            checks_relations=self.settings.checks_relations,
        )

    def value(self) -> Value:
        """Return the program's value, or what the question itself finds. Raises ModelError of an embedder."""
        program, why = self._program()
        if program is not None:
            value, why = run_program(program, self.run, self.recorder)
            if value is not None:
                return value
        with self.recorder.step("fallback", phrase=self.toolbox.asked.searched, reason=why) as step:
            found = nearest(self.run, self.toolbox.asked.query)
            step.events = self.toolbox.load(found.event_ids)
            step.observation, step.error = found.in_words(), "" if found.items else "nothing_found"
        return found

    def _program(self) -> tuple[Program | None, str]:
        """Return a program that can run, after at most one repair; or None and why there is none."""
        why = ""
        for _ in range(2):
            if not self.run.take_call():
                return None, why or "no call is left for a program"
            try:
                with self.recorder.step("program") as step:
                    program = self._ask(step)
            except (Halt, ModelError) as failure:
                return None, self.toolbox.record_failure(failure)
            why = str(step.arguments.get("faults", step.error))
            if program is not None or step.error != "bad_program":
                break
        return program, why

    def _ask(self, step: RecordedStep) -> Program | None:
        """Return a program that can run. If it is bad, the dialogue grows by it and by its faults, and it can be asked
        for again. Raises Halt, ModelError."""
        asked, targets = self.toolbox.asked, targets_of(self.toolbox)
        sample = self.toolbox.calls.ask(
            self.dialogue,
            stage="program",
            meter=self.toolbox.meter,
            schema=program_schema(steps=self.settings.program_steps, targets=targets),
            max_tokens=PROGRAM_TOKENS,
            seed=asked.seed_of(f"program {len(self.dialogue)}"),
        )[0]
        step.observation = sample.text
        if sample.refused:
            step.error = "model_refused"
            return None
        try:
            return read_program(sample.text, steps=self.settings.program_steps, targets=targets)
        except BadProgram as bad:
            step.error, step.arguments = "bad_program", {"faults": str(bad)}
            repair = load("ravu_repair", asked.question.profile).substitute(faults=str(bad))
            written = as_data(sample.text)[:WRITTEN_CHARACTERS] or "nothing"
            self.dialogue += [Message("assistant", (written,)), Message("user", (repair,))]
            return None

    def look(self, shown: Sequence[StoredFrame]) -> ParsedAnswer | None:
        """Look at the frames in one request, if there is a model that can and room for it; else the events' words must
        do. At effort `paper` the model answers from the frames itself, and its answer is returned. Raises Halt."""
        checker = self.toolbox.asked.models.checker
        if checker is None or not self.run.take_call():
            return None
        # One request shows one video.
        frames = [frame for frame in shown if frame.video_id == shown[0].video_id][: checker.max_frames]
        with self.recorder.step("look", frames=len(frames)) as step:
            step.frames = len(frames)
            if self.toolbox.asked.settings.effort == "paper":
                return self._answer_from(frames, step)
            findings, step.error = look_at_frames(self.toolbox, self.toolbox.asked.question.question, frames)
            step.observation = "\n".join(finding.in_words("") for finding in findings)
        return None

    def _answer_from(self, frames: list[StoredFrame], step: RecordedStep) -> ParsedAnswer | None:
        """Return the checker's answer from the frames, which cites their events."""
        asked = self.toolbox.asked
        asked = replace(asked, settings=changed(asked.settings, check_samples=1))
        events = self.toolbox.load(frame.event_id for frame in frames)
        draw = look_task(asked, self.toolbox.calls, frame_evidence(asked.graph, frames, events), ())()
        if draw.halt is not None:
            raise draw.halt
        step.error = draw.error
        parsed = draw.parsed[0] if draw.parsed else None
        numbers = tuple(self.toolbox.evidence.numbers[event.id] for event in events)
        return replace(parsed, cited=numbers) if parsed is not None else None

    def _holds(self) -> bool:
        """Whether the budget has room for one more call and the answer."""
        asked = self.toolbox.asked
        reasoner = asked.models.reasoner
        read = count_prompt(reasoner.count_tokens, self.dialogue) + ANSWER_TOKENS + self.settings.frames * SHOWN_TOKENS
        written = PROGRAM_TOKENS + asked.settings.prompt.answer_tokens
        return self.toolbox.calls.spending.holds(2, read, written, reasoner.name)


# --- asking for a program --------------------------------------------------------------------------------------------


def opening(toolbox: Toolbox, *, steps: int) -> list[Message]:
    """Return the conversation that asks for a program. Its first message is the same for every question, so that a
    server's prefix cache holds it."""
    question = toolbox.asked.question
    videos = len(toolbox.extents)
    longest = max((span.end_ms for span in toolbox.extents.values()), default=0)
    length = f"{max(1, round(longest / 60_000))} minutes"
    objects = toolbox.asked.graph.objects(limit=MOST_OBJECTS) if "objects" in toolbox.artifacts else ()
    user = load("ravu_question", question.profile).substitute(
        videos=f"one video of {length}" if videos == 1 else f"{videos} videos of up to {length}",
        targets=", ".join(targets_of(toolbox)),
        categories=f" Objects: {as_data(categories_there(objects))}." if objects else "",
        steps=steps,
        conversation=f"{toolbox.history}\n" if question.history else "",
        question=question.question,
        choices=choice_lines(question.choices),
        language=search_line(toolbox.asked.question_language),
    )
    functions = "\n".join(function.line() for function in FUNCTIONS.values())
    rules = load("ravu_plan", question.profile).substitute(functions=functions)
    return [Message("system", (rules,)), Message("user", (user,))]


def targets_of(toolbox: Toolbox) -> tuple[str, ...]:
    """Return what `localize` can find in this scope."""
    frames = ("frame",) if "frames" in toolbox.artifacts else ()
    objects = ("object",) if "objects" in toolbox.artifacts else ()
    return ("event", *frames, "entity", *objects)


# --- what an answer may rest on --------------------------------------------------------------------------------------


def show(run: Run, value: Value, *, most_frames: int) -> Sequence[StoredFrame]:
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
        shown = middles(value.items, most_frames)
        ids = [frame.event_id for frame in shown]
    else:
        of = value.of if isinstance(value, NumberValue | TextValue) else value
        moments = track(run, of) if isinstance(of, Things) else behind(of)
        ids = list(moments.event_ids)
        shown = frames(run, Moments(moments.items[:MOST_SHOWN]), most_frames).items
    for event in sorted(toolbox.load(ids[:MOST_SHOWN]), key=lambda event: (event.video_id, event.span, event.id)):
        toolbox.evidence.label_event(event)
    return shown


def _counted_objects(run: Run, of: Moments | Things) -> str:
    """Return the objects that were counted with their numbers and when each is first seen."""
    if isinstance(of, Moments):
        return ""
    toolbox = run.toolbox
    named = [
        f"{toolbox.evidence.label_object(stored)} {thing.words} {toolbox.place(thing.video_id, stored.spans[0])}"
        for thing in of.items[:MOST_OBJECTS_NAMED]
        if (stored := thing.stored) is not None and stored.spans
    ]
    rest = f" and {len(of.items) - len(named)} more" if named and len(of.items) > len(named) else ""
    return f" {'; '.join(named)}{rest}" if named else ""
