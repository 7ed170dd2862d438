"""The loop in which a reasoner uses tools: one call a step, in a conversation that only grows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpu_workers.engine.answering.agent.conversation import (
    CORRECTION,
    FINISH,
    FINISH_NOW,
    NO_EVIDENCE,
    UNKNOWN,
    UNREADABLE,
    Conversation,
    ToolCall,
    call_key,
    finish_tool,
    opening_prompt,
    proposed_answer,
    read_step,
    step_schema,
    usable_tools,
)
from gpu_workers.engine.answering.agent.step_records import RecordedStep, step_record
from gpu_workers.engine.answering.agent.tool import (
    BAD_ARGUMENTS,
    FAILED,
    NOT_AVAILABLE,
    REPEATED,
    TOO_MANY,
    BadArguments,
    Observation,
    Tool,
    failed,
    read_arguments,
)
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.budget import BranchMeter, Halt
from gpu_workers.engine.answering.calls import MESSAGE_TOKENS
from gpu_workers.engine.answering.context import cut_lines
from gpu_workers.engine.answering.contract import DETAIL_CHARACTERS, INSUFFICIENT, NodeRecord
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.roles import ModelError, Sample

MOST_STALE = 2
"""Number of steps in a row without anything new after which the loop must finish."""

MOST_UNREAD = 2
"""Number of unreadable replies in a row after which the loop must finish."""

LOOK_TOKENS = 1_500
"""Tokens of a look, a lower estimate: less than that is not worth a tool that looks."""


@dataclass(frozen=True, slots=True)
class LoopRequest:
    """What a loop may do.

    tools: most important first; `finish` is added. Those whose needs are missing are not offered. rules: what this
    method asks of the reasoner, after the rules of every loop. opening: what it reads next to the question and its
    choices, every text of a video in it through as_data. steps: maximum number of requests. stage: of the model calls.
    path: of the step that runs this loop inside another one, whose records then include these.
    """

    tools: Sequence[Tool]
    rules: str
    opening: str
    steps: int
    stage: str = "step"
    path: str = ""


@dataclass(frozen=True, slots=True)
class LoopEnd:
    """How a loop ended. proposed: the answer of `finish`, None without one. forced: why only `finish` was offered in
    the end, "" if the reasoner chose to finish. halt, error: what ended the loop early."""

    records: tuple[NodeRecord, ...]
    proposed: ParsedAnswer | None = None
    forced: str = ""
    halt: Halt | None = None
    error: ModelError | None = None


def run_loop(toolbox: Toolbox, request: LoopRequest) -> LoopEnd:
    """Let the reasoner call tools until it finishes. A first step that finishes without evidence is refused once, but
    for a loop inside another one. Raises neither Halt nor ModelError."""
    with toolbox.calls.timed("search"):
        loop = _Loop(toolbox, request)
        meter, outer = toolbox.meter, toolbox.path
        try:
            loop.run()
        finally:
            toolbox.meter, toolbox.path = meter, outer
        if request.path:
            toolbox.inner += loop.records
    return LoopEnd(tuple(loop.records), loop.proposed, loop.forced, toolbox.calls.halted, loop.error)


class _Loop:
    """State of one loop. uses: by tool. made: the step of each call, by its key. texts: observations so far. stale,
    unread: steps in a row that brought nothing new, and that could not be read."""

    def __init__(self, toolbox: Toolbox, request: LoopRequest) -> None:
        self.toolbox, self.request, self.path = toolbox, request, request.path
        question, settings, reasoner = toolbox.asked.question, toolbox.asked.settings, toolbox.asked.models.reasoner
        self.reply_tokens = min(settings.prompt.answer_tokens, max(1, reasoner.context_tokens // 4))
        self.finishing = finish_tool(question.choices, abstain=settings.samples.abstain)
        self.tools, system = usable_tools(toolbox, request.tools, self.finishing, request.rules, request.steps)
        self.conversation = Conversation(
            system, opening_prompt(toolbox, request.opening), reasoner=reasoner, reply_tokens=self.reply_tokens
        )
        self.videos = max(1, len(toolbox.extents))
        self.uses: Counter[str] = Counter()
        self.made: dict[str, int] = {}
        self.texts: set[str] = set()
        self.stale = self.unread = 0
        self.records: list[NodeRecord] = []
        self.forced = ""
        self.proposed: ParsedAnswer | None = None
        self.error: ModelError | None = None

    def run(self) -> None:
        toolbox, calls = self.toolbox, self.toolbox.calls
        for k in range(1, self.request.steps + 1):
            began = calls.spending.elapsed_ms()
            toolbox.meter = BranchMeter(calls.meter)
            toolbox.path = f"{self.path}/O{k}" if self.path else f"S{k:02}"
            if not self.forced and (reason := self._must_finish(k)):
                self.forced = reason
                self.conversation.close(FINISH_NOW)
            if self.path and (self.forced == "budget" or not self._holds(0)):
                # The loop around this one needs the last call, to finish with what was shown.
                self.forced = "budget"
                return
            sample = self._ask(k)
            if sample is None:
                return
            step = self._read(sample)
            before = len(toolbox.evidence)
            observation = self._observe(k, step) if step.tool != UNREADABLE else self._correction(sample)
            self._keep(k, step, sample, observation, began)
            calls.on_progress("search", k, self.request.steps, step.tool)
            if not self.path:
                calls.on_nodes(tuple(self.records))
            self.unread = self.unread + 1 if self.forced or step.tool == UNREADABLE else 0
            if self.proposed is not None or calls.halted or (self.forced and self.unread >= MOST_UNREAD):
                return
            if step.tool != UNREADABLE:
                new_words = not observation.seen and not observation.error and observation.text not in self.texts
                self.texts.add(observation.text)
                self.stale = 0 if new_words or len(toolbox.evidence) > before else self.stale + 1

    def _must_finish(self, k: int) -> str:
        """Return why only `finish` may be called at step k; "" if other tools may."""
        poor = not self._holds(1)
        if k == self.request.steps and not (poor and self.path):
            return "last_step"
        if poor:
            return "budget"
        if not self._offered():
            return "tools_used_up"
        if self.unread >= MOST_UNREAD:
            return "unreadable"
        return "nothing_new" if self.stale >= MOST_STALE else ""

    def _offered(self) -> list[Tool]:
        return [tool for tool in self.tools if self.uses[tool.name] < tool.most]

    def _holds(self, calls: int, tokens: int = 0) -> bool:
        """Whether the budget holds these calls, of a step's size or of so many tokens, and the answer after them."""
        prompt = self.conversation.tokens() + 2 * MESSAGE_TOKENS
        grown = prompt + self.reply_tokens + self.toolbox.observation_tokens
        return self.toolbox.calls.spending.holds(
            calls + 1,
            calls * (tokens or prompt) + grown,
            (calls + 1) * self.reply_tokens,
            self.toolbox.asked.models.reasoner.name,
        )

    def _ask(self, k: int) -> Sample | None:
        """Return the reply of step k; None if there is none, because the budget ended or with self.error."""
        toolbox = self.toolbox
        offered = [] if self.forced else self._offered()
        try:
            return toolbox.calls.ask(
                self.conversation.messages(),
                stage=self.request.stage,
                meter=toolbox.meter,
                schema=step_schema([*offered, self.finishing], videos=self.videos),
                max_tokens=self.reply_tokens,
                seed=toolbox.asked.seed_of(f"{self.path} step {k}".strip()),
            )[0]
        except (Halt, ModelError) as error:
            toolbox.record_failure(error)
            self.error = error if isinstance(error, ModelError) and not toolbox.calls.halted else None
            return None

    def _read(self, sample: Sample) -> ToolCall:
        """Return the call in a reply, UNREADABLE without one. If only `finish` may be called, no other call is one."""
        step = None if sample.refused else read_step(sample.text)
        if step is None or (self.forced and step.tool != FINISH):
            return ToolCall(UNREADABLE, {}, as_data(sample.text)[:DETAIL_CHARACTERS])
        return step

    def _correction(self, sample: Sample) -> Observation:
        error = "model_refused" if sample.refused else "unreadable"
        return Observation(FINISH_NOW if self.forced else CORRECTION, error)

    def _observe(self, k: int, step: ToolCall) -> Observation:
        """Return what a call shows. What is wrong with it is an observation, as is a model's failure."""
        tool = next((tool for tool in self.tools if tool.name == step.tool), None)
        try:
            if step.tool == FINISH:
                return self._finish(k, step)
            if tool is None:
                names = ", ".join([*(tool.name for tool in self._offered()), FINISH])
                return Observation(f"There is no such tool. The tools are {names}.", NOT_AVAILABLE)
            if self.uses[tool.name] >= tool.most:
                return Observation(f"{tool.name} has been used {tool.most} times, which is all it may be.", TOO_MANY)
            arguments = read_arguments(tool, step.arguments, videos=self.videos)
            key = call_key(tool, arguments)
            if key in self.made:
                return Observation(f"Step {self.made[key]} has shown this already. Make another call.", REPEATED)
            if "checker" in tool.needs and not self._holds(1, LOOK_TOKENS):
                return Observation("The budget does not hold a look and the answer. Call finish.", NOT_AVAILABLE)
            self.uses[tool.name] += 1
            observation = tool.use(self.toolbox, arguments)
            if not observation.error.startswith(FAILED):
                self.made[key] = k
            return observation
        except BadArguments as error:
            return Observation(str(error), BAD_ARGUMENTS)
        except (Halt, ModelError) as error:
            code = self.toolbox.record_failure(error)
            return failed(code) if isinstance(error, ModelError) else Observation("", code)

    def _finish(self, k: int, step: ToolCall) -> Observation:
        """Keep the answer of `finish`. Raises BadArguments."""
        toolbox = self.toolbox
        proposed = proposed_answer(toolbox, self.finishing, step)
        answered_by_overview = not toolbox.asked.question.choices and toolbox.overview_shown and proposed.sufficient
        early = k == 1 and not self.path and not self.forced
        if early and not (proposed.cited or answered_by_overview):
            raise BadArguments(NO_EVIDENCE)
        self.proposed = proposed
        return Observation("", events=tuple(toolbox.evidence.events[number].id for number in proposed.cited))

    def _keep(self, k: int, step: ToolCall, sample: Sample, observation: Observation, began: int) -> None:
        """Record a step, and show the reasoner what it led to."""
        toolbox, log = self.toolbox, self.toolbox.evidence
        shown = cut_lines(observation.text, toolbox.count_tokens, toolbox.observation_tokens)
        more = " There is more than is shown." if observation.cut else ""
        text = f"Step {k} of {self.request.steps}, {step.tool}:{more}\n{shown}"
        brief = step.in_brief(log.labels_of(observation.seen))
        self.conversation.add(sample.text, text, f"Step {k}, {brief}")
        events = [log.events[log.numbers[event_id]] for event_id in observation.events if event_id in log.numbers]
        record = step_record(
            toolbox,
            RecordedStep(
                toolbox.path,
                step.tool,
                began,
                step.stored(),
                shown,
                observation.error,
                events,
                frames=len(observation.frames),
            ),
        )
        known = any(tool.name == step.tool for tool in (*self.tools, self.finishing)) or step.tool == UNREADABLE
        record = replace(
            record,
            action=step.tool if known else UNKNOWN,
            detail={**record.detail, "thought": step.thought, "forced": self.forced},
        )
        if self.path:
            self.records.append(record)
            return
        if self.proposed is not None:
            record = replace(record, answer=self.proposed.text if self.proposed.sufficient else INSUFFICIENT)
        self.records += [record, *toolbox.inner]
        toolbox.inner.clear()
