"""Action IN: planned looks at the retrieved moments, round by round, until what was seen is sufficient.

Each round plans looks, observes them and reflects on all findings so far. An inspection replaces the frame check. Like
it, it runs after retrieval and may look only at the suspects' events and a margin, so its cost does not grow with the
video. After Active Video Perception (arXiv 2512.05774), from the paper only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import BranchMeter, Halt
from gpu_workers.engine.answering.calls import Calls, count_prompt
from gpu_workers.engine.answering.context import EventContext, event_context
from gpu_workers.engine.answering.contract import NodeRecord
from gpu_workers.engine.answering.looking.closer_look import in_full
from gpu_workers.engine.answering.looking.findings import Finding, findings_schema, read_findings
from gpu_workers.engine.answering.looking.looks import (
    MAX_LOOKS,
    Look,
    default_looks,
    frames_of_look,
    neighbourhood,
    plan_schema,
    reach_of,
    read_plan,
)
from gpu_workers.engine.answering.looking.reflection import missing, reflection_schema, resolved, sufficient
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.sampling import Draw, check_answers
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, node_record, scored
from gpu_workers.engine.answering.wording import abstain_rule, answer_form, as_data, choice_lines
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import Message, Meter, ModelError, ObserveRequest, Sample
from gpu_workers.engine.ports import StoredEvent, StoredFrame
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.frames import frame_evidence

PLAN_TOKENS = 400
ANSWER_CHARACTERS = 80
"""Maximum length of the answer that a finding supports or contradicts, since each finding repeats it."""


@dataclass(slots=True)
class _Inspection:
    """State of an inspection. ranking: the suspects' events, best first. answers: the answers in doubt, the leading one
    first. findings: only grows."""

    state: State
    ranking: tuple[UUID, ...]
    events: tuple[StoredEvent, ...]
    nearby: tuple[StoredEvent, ...]
    answers: tuple[str, ...]
    findings: list[Finding] = field(default_factory=list)
    looked: set[Look] = field(default_factory=set)
    missing: tuple[str, ...] = ()

    @property
    def hypothesis(self) -> str:
        return self.answers[0] if self.answers else ""

    def in_words(self) -> list[str]:
        return [finding.in_words(self.hypothesis[:ANSWER_CHARACTERS]) for finding in self.findings]


@dataclass(slots=True)
class _Round:
    """Outcome of one round. frames_used, frames_available: of its looks. error: "" if all went well."""

    meter: Meter
    started_ms: int
    error: str = ""
    frames_used: int = 0
    frames_available: int = 0


@dataclass(frozen=True, slots=True)
class _Report:
    findings: tuple[Finding, ...] = ()
    error: str = ""
    halt: Halt | None = None


def inspect(asked: Asked, calls: Calls, suspects: Sequence[AnswerNode]) -> tuple[list[AnswerNode], list[NodeRecord]]:
    """Return the inspection's node if its findings suffice, else none; and a record per round.

    It ends after settings.look.inspect_rounds, when a call fails, when the budget is exhausted, or when nothing is left
    to look at.
    """
    inspection = _begin(asked, suspects)
    nodes: list[AnswerNode] = []
    records: list[NodeRecord] = []
    state = inspection.state
    for _ in range(asked.settings.look.inspect_rounds):
        state = replace(state, path=state.after("IN"))
        current = _Round(BranchMeter(calls.meter), calls.spending.elapsed_ms())
        node = _look_again(asked, calls, inspection, state, current)
        records.append(_recorded(calls, inspection, node, current))
        if current.error or calls.halted:
            break
        if sufficient(node, asked.settings.look.inspect_gate):
            nodes.append(node)
            break
    return nodes, records


def _begin(asked: Asked, suspects: Sequence[AnswerNode]) -> _Inspection:
    shown = [event.event_id for node in suspects for event in node.state.events]
    ranking = tuple(dict.fromkeys(e for e in shown if any(e in node.context.numbers for node in suspects)))
    loaded = asked.graph.load_events(ranking)
    events = tuple(loaded[event_id] for event_id in ranking if event_id in loaded)
    answers = dict.fromkeys(node.answer.text for node in suspects if node.answer and node.answer.sufficient)
    return _Inspection(suspects[0].state, ranking, events, tuple(neighbourhood(asked.graph, events)), tuple(answers))


def _look_again(asked: Asked, calls: Calls, inspection: _Inspection, state: State, current: _Round) -> AnswerNode:
    """Plan, observe, reflect. current.error says what ended the round early; then the node has no answer."""
    context = _context(asked, inspection, "", 0)
    nothing = AnswerNode(state.path, state, context, Draw(started_ms=current.started_ms, meter=current.meter))
    looks = _plan(asked, calls, inspection, current)
    if not looks:
        current.error = current.error or "nothing_to_look_at"
        return nothing
    _observe(asked, calls, inspection, looks, current)
    if current.error or calls.halted:
        return nothing
    return _reflect(asked, calls, inspection, state, current)


def _plan(asked: Asked, calls: Calls, inspection: _Inspection, current: _Round) -> list[Look]:
    question, findings = asked.question, inspection.in_words()
    fields = {
        "question": question.question,
        "choices": choice_lines(question.choices),
        "answers": "; ".join(map(as_data, inspection.answers)) or "none",
        "found": "\n".join(findings) or "nothing yet",
        "missing": "; ".join(inspection.missing) or "not known yet",
        "looks": MAX_LOOKS,
        "video": "\n- video: its number in the list",
        "example": ', "video": 1',
    }
    prompt = load("inspect_plan", question.profile)
    context = _context(asked, inspection, prompt.substitute(fields, events=""), PLAN_TOKENS, stamp=_in_ms)
    # The list numbers the videos of the events that it shows, and only if there are several.
    videos = dict(enumerate(sorted({event.video_id for event in context.events.values()}), start=1))
    several = len(videos) > 1
    if not several:
        fields |= {"video": "", "example": ""}
    try:
        sample = calls.ask(
            [Message("user", (prompt.substitute(fields, events=context.text),))],
            stage="plan",
            meter=current.meter,
            schema=plan_schema(several_videos=several),
            max_tokens=PLAN_TOKENS,
            seed=asked.seed_of(f"plan {len(inspection.looked)}"),
        )[0]
    except (Halt, ModelError) as error:
        _stopped(calls, current, error)
        return []
    looks = [
        look for look in read_plan(sample.text, reach_of(inspection.events), videos) if look not in inspection.looked
    ]
    if not looks and not inspection.looked:
        # A plan that cannot be used is no reason not to look at all.
        looks = default_looks(inspection.events, question.question)
    inspection.looked.update(looks)
    return looks


def _observe(asked: Asked, calls: Calls, inspection: _Inspection, looks: Sequence[Look], current: _Round) -> None:
    """Make all looks of a round in parallel. A look that fails finds nothing; if all fail, the inspection ends."""
    assert asked.models.checker is not None
    tasks: list[Callable[[], _Report]] = []
    for look in looks:
        frames, available = frames_of_look(asked.graph, look, inspection.nearby, limit=asked.models.checker.max_frames)
        current.frames_available += available
        if frames:
            current.frames_used += len(frames)
            tasks.append(
                partial(_report, calls, _request(asked, calls, inspection, look, frames), look, frames, current.meter)
            )
    reports = calls.together("check", tasks, details=["IN"] * len(tasks))
    for report in reports:
        inspection.findings += report.findings
        if report.halt:
            _stopped(calls, current, report.halt)
    if not tasks:
        current.error = "no_frames"
    elif not current.error and all(report.error for report in reports):
        current.error = reports[0].error


def _request(
    asked: Asked, calls: Calls, inspection: _Inspection, look: Look, frames: Sequence[StoredFrame]
) -> ObserveRequest:
    evidence = frame_evidence(asked.graph, frames, inspection.nearby)
    if look.high:
        evidence = in_full(calls, evidence, frames)
    findings = tuple(inspection.in_words())
    return ObserveRequest(asked.question.question, look.find, inspection.hypothesis, findings, evidence, look.high)


def _report(calls: Calls, request: ObserveRequest, look: Look, frames: Sequence[StoredFrame], meter: Meter) -> _Report:
    try:
        sample = calls.observe_frames(request, schema=findings_schema(), meter=meter)
    except Halt as halt:
        return _Report(error=halt.code, halt=halt)
    except ModelError as error:
        return _Report(error=error.code)
    if sample.refused:
        return _Report(error="model_refused")
    findings = read_findings(sample.text, look, frames)
    return _Report(error="unreadable") if findings is None else _Report(tuple(findings))


def _reflect(asked: Asked, calls: Calls, inspection: _Inspection, state: State, current: _Round) -> AnswerNode:
    question, settings = asked.question, asked.settings
    findings = [f"{number}. {text}" for number, text in enumerate(inspection.in_words(), start=1)]
    fields = {
        "found": "\n".join(findings) or "none: the frames show nothing of what was looked for",
        "question": question.question,
        "choices": choice_lines(question.choices),
        "answers": "; ".join(map(as_data, inspection.answers)) or "none",
        "abstain": abstain_rule(question.choices, abstain=True),
        "words": settings.prompt.reasoning_words,
        "answer_form": answer_form(question.choices, abstain=True),
    }
    prompt = load("inspect_reflect", question.profile)
    context = _context(asked, inspection, prompt.substitute(fields, events=""), settings.prompt.answer_tokens)
    messages = [Message("user", (prompt.substitute(fields, events=context.text),))]

    def sampled(meter: Meter) -> list[Sample]:
        n = settings.look.check_samples
        return calls.ask(
            messages,
            stage="reflect",
            meter=meter,
            schema=reflection_schema(question.choices),
            n=n,
            temperature=settings.samples.temperature if n > 1 else 0.0,
            max_tokens=settings.prompt.answer_tokens,
            seed=asked.seed_of(state.path),
        )

    draw = check_answers(asked, calls, sampled, meter=current.meter)
    if draw.halt:
        calls.halt(draw.halt)
    current.error = draw.error
    draw.started_ms = current.started_ms
    read = [
        resolved(parsed, text, inspection.findings, context)
        for parsed, text in zip(draw.parsed, draw.texts, strict=True)
    ]
    draw.parsed = [parsed for parsed, _ in read]
    votes = scored(asked, draw)
    if votes:
        inspection.missing = missing(draw.texts[votes[0].representative])
    frames: dict[UUID, StoredFrame] = {}
    for index in votes[0].members if votes else ():
        frames = read[index][1] | frames
    return AnswerNode(state.path, state, context, draw, votes, seen=frames)


def _recorded(calls: Calls, inspection: _Inspection, node: AnswerNode, current: _Round) -> NodeRecord:
    record = node_record(node, frames_used=current.frames_used, frames_available=current.frames_available)
    wall_ms = calls.spending.elapsed_ms() - current.started_ms
    error = current.error or (calls.halted.code if calls.halted else "")
    return replace(record, error=error, seen=tuple(inspection.in_words()), wall_ms=wall_ms)


def _stopped(calls: Calls, current: _Round, error: Halt | ModelError) -> None:
    current.error = error.code
    if isinstance(error, Halt):
        calls.halt(error)


def _context(
    asked: Asked,
    inspection: _Inspection,
    prompt: str,
    answer_tokens: int,
    *,
    stamp: Callable[[Span], str] | None = None,
) -> EventContext:
    """Return the suspects' events, as many as fit into the window next to prompt."""
    reasoner = asked.models.reasoner
    taken = count_prompt(reasoner.count_tokens, [Message("user", (prompt,))]) + answer_tokens
    return event_context(
        inspection.ranking,
        {event.id: event for event in inspection.events},
        (),
        count_tokens=reasoner.count_tokens,
        max_tokens=max(1, min(asked.settings.prompt.context_tokens, reasoner.context_tokens - taken)),
        stamp=stamp,
    )


def _in_ms(span: Span) -> str:
    return f"{span.start_ms}-{span.end_ms} ms"
