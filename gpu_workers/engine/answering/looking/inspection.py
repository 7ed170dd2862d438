"""The state of an inspection: what its prompts show, where it may look, what it found (looking.rounds runs it)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls, count_prompt
from gpu_workers.engine.answering.context import EventContext, EventLabels, event_context
from gpu_workers.engine.answering.contract import INSUFFICIENT
from gpu_workers.engine.answering.looking.frame_check import in_full
from gpu_workers.engine.answering.looking.looks import (
    MAX_LOOKS,
    Finding,
    Look,
    Reach,
    default_looks,
    findings_schema,
    frames_of_look,
    read_findings,
    read_plan,
)
from gpu_workers.engine.answering.parsing import ParsedAnswer, answer_schema
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock_span
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import Message, Meter, ModelError, ObserveRequest
from gpu_workers.engine.models.served.structured import read_object
from gpu_workers.engine.ports import StoredEvent, StoredFrame
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.frames import frame_evidence

PLAN_TOKENS = 400
ANSWER_CHARACTERS = 80
"""Maximum length of the answer that a finding supports or contradicts, since each finding repeats it."""


@dataclass(slots=True)
class Inspection:
    """State of an inspection of some events' surroundings.

    ranking: the events that its prompts show, best first. events: these, with their texts. reach: the spans that may be
    looked at. answers: the answers in doubt, the leading one first. nearby: the events whose frames may be shown.
    looks: maximum number of looks per round. findings: only grows. missing: what the last reflection lacked.
    """

    state: State
    ranking: tuple[UUID, ...]
    events: tuple[StoredEvent, ...]
    reach: Reach
    answers: tuple[str, ...] = ()
    nearby: tuple[StoredEvent, ...] = ()
    looks: int = MAX_LOOKS
    findings: list[Finding] = field(default_factory=list)
    looked: set[Look] = field(default_factory=set)
    missing: tuple[str, ...] = ()

    @property
    def numbers(self) -> Mapping[UUID, int] | None:
        """Return the numbers of events in prompts; None to number those shown."""
        return None

    @property
    def video_numbers(self) -> Mapping[UUID, int] | None:
        """Return the numbers of videos in prompts; None to number those shown."""
        return None

    @property
    def hypothesis(self) -> str:
        return self.answers[0] if self.answers else ""

    def in_words(self) -> list[str]:
        return [finding.in_words(self.hypothesis[:ANSWER_CHARACTERS]) for finding in self.findings]

    def plan_prompt(self, asked: Asked, fields: Mapping[str, Any]) -> tuple[list[Message], Mapping[int, UUID]]:
        """Return the prompt of the next plan, and the videos by the numbers that it uses."""
        prompt = load("inspect_plan", asked.question.profile)
        shown = {**fields, "video": "\n- video: its number in the list", "example": ', "video": 1'}
        context = self.context(asked, prompt.substitute(shown, events=""), PLAN_TOKENS, stamp=in_ms)
        # The list numbers the videos of the events that it shows, and only if there are several.
        videos = dict(enumerate(sorted({event.video_id for event in context.events.values()}), start=1))
        if len(videos) < 2:
            shown |= {"video": "", "example": ""}
        return [Message("user", (prompt.substitute(shown, events=context.text),))], videos

    def judgement_prompt(self, asked: Asked, fields: Mapping[str, Any]) -> tuple[list[Message], EventContext]:
        """Return the prompt of the next reflection, and the events that its answer may cite."""
        prompt = load("inspect_reflect", asked.question.profile)
        context = self.context(asked, prompt.substitute(fields, events=""), asked.settings.prompt.answer_tokens)
        return [Message("user", (prompt.substitute(fields, events=context.text),))], context

    def planned(self, asked: Asked, text: str, videos: Mapping[int, UUID]) -> list[Look]:
        """Return the new looks of a plan inside the reach. A first plan that cannot be used is no reason not to look at
        all: then these are looks at the events."""
        looks = [look for look in read_plan(text, self.reach, videos, most=self.looks) if look not in self.looked]
        return looks or ([] if self.looked else default_looks(self.events, asked.question.question)[: self.looks])

    def frames(self, asked: Asked, look: Look, limit: int) -> tuple[list[StoredFrame], int]:
        """Return the frames of a look, at most limit, and how many it might have had."""
        return frames_of_look(asked.graph, look, self.nearby, limit=limit)

    def seen(self, asked: Asked, frames: Sequence[StoredFrame]) -> Sequence[StoredEvent]:
        """Return the events of frames that a look is about to show."""
        return self.nearby

    def found(self, asked: Asked, findings: Sequence[Finding]) -> None:
        """Take in what a look found."""
        self.findings += findings

    def context(
        self,
        asked: Asked,
        prompt: str,
        answer_tokens: int,
        *,
        stamp: Callable[[Span], str] = clock_span,
    ) -> EventContext:
        """Return the events, as many as fit into the window next to prompt."""
        reasoner = asked.models.reasoner
        taken = count_prompt(reasoner.count_tokens, [Message("user", (prompt,))]) + answer_tokens
        return event_context(
            self.ranking,
            {event.id: event for event in self.events},
            (),
            count_tokens=reasoner.count_tokens,
            max_tokens=max(1, min(asked.settings.prompt.context_tokens, reasoner.context_tokens - taken)),
            labels=EventLabels(stamp=stamp, numbers=self.numbers, videos=self.video_numbers),
        )


def in_ms(span: Span) -> str:
    return f"{span.start_ms}-{span.end_ms} ms"


# --- looks of a plan, in parallel -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LookReport:
    """The outcome of one look. error: code of its failure, "" without one. halt: set if a limit forbade the call."""

    findings: tuple[Finding, ...] = ()
    error: str = ""
    halt: Halt | None = None


def observe(
    asked: Asked,
    calls: Calls,
    looks: Sequence[tuple[Look, Sequence[StoredFrame]]],
    events: Sequence[StoredEvent],
    *,
    hypothesis: str,
    known: Sequence[str],
    meter: Meter,
) -> list[LookReport]:
    """Return the reports of looks at their frames, at least one each, in the order of looks.

    events: those of the frames, whose measurements a checker without eyes reads. hypothesis, known: see ObserveRequest.
    """
    tasks: list[Callable[[], LookReport]] = []
    for look, frames in looks:
        evidence = frame_evidence(asked.graph, frames, events)
        if look.high:
            evidence = in_full(calls, evidence, frames)
        request = ObserveRequest(asked.question.question, look.find, hypothesis, tuple(known), evidence, look.high)
        tasks.append(partial(_report, calls, request, look, frames, meter))
    return calls.together("check", tasks, details=[f"{len(frames)} pictures" for _, frames in looks])


def _report(
    calls: Calls, request: ObserveRequest, look: Look, frames: Sequence[StoredFrame], meter: Meter
) -> LookReport:
    try:
        sample = calls.observe_frames(request, schema=findings_schema(), meter=meter)
    except Halt as halt:
        return LookReport(error=halt.code, halt=halt)
    except ModelError as error:
        return LookReport(error=error.code)
    if sample.refused:
        return LookReport(error="model_refused")
    findings = read_findings(sample.text, look, frames)
    return LookReport(error="unreadable") if findings is None else LookReport(tuple(findings))


# --- the answer that findings give ------------------------------------------------------------------------------------

MISSING_CHARACTERS = 120


def reflection_schema(choices: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema: an answer that cites findings, whether they suffice, how surely, what is missing."""
    schema = answer_schema(choices, abstain=True)
    properties = {
        **{name: value for name, value in schema["properties"].items() if name != "sufficient"},
        "sufficient": {"type": "boolean"},
        "confidence": {"type": "number"},
        "missing": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    }
    return {**schema, "properties": properties, "required": list(properties)}


def resolved(
    parsed: ParsedAnswer | None,
    text: str,
    findings: Sequence[Finding],
    context: EventContext,
) -> tuple[ParsedAnswer | None, dict[UUID, StoredFrame]]:
    """Return the reflection with event numbers in place of the findings it cites; and the first frame by event."""
    if parsed is None:
        return None, {}
    if (read_object(text) or {}).get("sufficient") is False:
        return ParsedAnswer(INSUFFICIENT, None, sufficient=False, reasoning=parsed.reasoning), {}
    cited: dict[UUID, StoredFrame] = {}
    for number in parsed.cited:
        if not 0 < number <= len(findings):
            continue
        for frame in findings[number - 1].frames:
            if frame.event_id in context.numbers:
                cited.setdefault(frame.event_id, frame)
    return replace(parsed, cited=tuple(context.numbers[event_id] for event_id in cited)), cited


def sufficient(node: AnswerNode, gate: float) -> bool:
    """Whether half of the reflections give one answer with a mean confidence of at least gate."""
    if not node.answers or node.votes[0].agreement < 0.5:
        return False
    members = node.votes[0].members
    return sum(_confidence(node.draw.texts[index]) for index in members) / len(members) >= gate


def _confidence(text: str) -> float:
    value = (read_object(text) or {}).get("confidence")
    return min(1.0, max(0.0, float(value))) if isinstance(value, (int, float)) else 0.0


def missing(text: str) -> tuple[str, ...]:
    """Return what a reflection wants another look to find."""
    value = (read_object(text) or {}).get("missing")
    items = value if isinstance(value, list) else []
    return tuple(as_data(str(item))[:MISSING_CHARACTERS] for item in items[:3] if item)
