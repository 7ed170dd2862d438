"""Action IN: planned looks at the retrieved moments, round by round, until what was seen is sufficient.

Each round plans looks, observes them and reflects on all that was found so far. It stands in for the frame check and,
like it, runs after retrieval: what may be looked at is the suspects' events and a margin, so its cost does not grow
with the video. After Active Video Perception (arXiv 2512.05774), from the paper only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import UUID

from gpu_workers.engine.answering.budget import BranchMeter, Halt
from gpu_workers.engine.answering.context import EventContext, event_context
from gpu_workers.engine.answering.contract import NodeRecord
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
from gpu_workers.engine.answering.run import QuestionRun, count_prompt
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.consistency import score_votes
from gpu_workers.engine.answering.search.sampling import Draw, check_answers
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, node_record
from gpu_workers.engine.answering.wording import abstain_rule, answer_form, as_data, choice_lines
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import Message, Meter, ModelError, ObserveRequest, Sample
from gpu_workers.engine.ports import StoredEvent, StoredFrame
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.frames import frame_evidence

PLAN_TOKENS = 400
ANSWER_CHARACTERS = 80
"""Of the answer that a finding bears on, as it is repeated with each."""


@dataclass(slots=True)
class _Inspection:
    """What is known so far. ranking: the suspects' events, best first. answers: those in doubt, the leading one first.
    findings: only ever grows."""

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

    def told(self) -> list[str]:
        return [finding.told(self.hypothesis[:ANSWER_CHARACTERS]) for finding in self.findings]


@dataclass(slots=True)
class _Round:
    """One round's outcome. frames_used, frames_available: of its looks. error: "" if all went well."""

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


def inspect(run: QuestionRun, suspects: Sequence[AnswerNode]) -> tuple[list[AnswerNode], list[NodeRecord]]:
    """The inspection's node if what it saw is sufficient, else none; and a record per round.

    A failure of any call, an exhausted budget or nothing more to look at ends it, as does settings.inspect_rounds.
    """
    inspection = _begin(run, suspects)
    nodes: list[AnswerNode] = []
    records: list[NodeRecord] = []
    state = inspection.state
    for _ in range(run.settings.inspect_rounds):
        state = replace(state, path=state.after("IN"))
        this = _Round(BranchMeter(run.meter), run.spending.elapsed_ms())
        node = _look_again(run, inspection, state, this)
        records.append(_recorded(run, inspection, node, this))
        if this.error or run.halted:
            break
        if sufficient(node, run.settings.inspect_gate):
            nodes.append(node)
            break
    return nodes, records


def _begin(run: QuestionRun, suspects: Sequence[AnswerNode]) -> _Inspection:
    shown = [event.event_id for node in suspects for event in node.state.events]
    ranking = tuple(dict.fromkeys(e for e in shown if any(e in node.context.numbers for node in suspects)))
    loaded = run.graph.load_events(ranking)
    events = tuple(loaded[event_id] for event_id in ranking if event_id in loaded)
    answers = dict.fromkeys(node.answer.text for node in suspects if node.answer and node.answer.sufficient)
    return _Inspection(suspects[0].state, ranking, events, tuple(neighbourhood(run.graph, events)), tuple(answers))


def _look_again(run: QuestionRun, inspection: _Inspection, state: State, this: _Round) -> AnswerNode:
    """Plan, observe, reflect. this.error tells what ended the round early; the node then answers nothing."""
    context = _context(run, inspection, "", 0)
    nothing = AnswerNode(state.path, state, context, Draw(started_ms=this.started_ms, meter=this.meter))
    looks = _plan(run, inspection, this)
    if not looks:
        this.error = this.error or "nothing_to_look_at"
        return nothing
    _observe(run, inspection, looks, this)
    if this.error or run.halted:
        return nothing
    return _reflect(run, inspection, state, this)


def _plan(run: QuestionRun, inspection: _Inspection, this: _Round) -> list[Look]:
    question, told = run.question, inspection.told()
    fields = {
        "question": question.question,
        "choices": choice_lines(question.choices),
        "answers": "; ".join(map(as_data, inspection.answers)) or "none",
        "found": "\n".join(told) or "nothing yet",
        "missing": "; ".join(inspection.missing) or "not known yet",
        "looks": MAX_LOOKS,
        "video": "\n- video: its number in the list",
        "example": ', "video": 1',
    }
    prompt = load("inspect_plan", question.profile)
    context = _context(run, inspection, prompt.substitute(fields, events=""), PLAN_TOKENS, stamp=_in_ms)
    # The list numbers the videos of the events that it shows, and only if there are several.
    videos = dict(enumerate(sorted({event.video_id for event in context.events.values()}), start=1))
    several = len(videos) > 1
    if not several:
        fields |= {"video": "", "example": ""}
    try:
        sample = run.ask(
            [Message("user", (prompt.substitute(fields, events=context.text),))],
            stage="plan",
            meter=this.meter,
            schema=plan_schema(several_videos=several),
            max_tokens=PLAN_TOKENS,
            seed=run.seed_of(f"plan {len(inspection.looked)}"),
        )[0]
    except (Halt, ModelError) as error:
        _stopped(run, this, error)
        return []
    looks = [
        look for look in read_plan(sample.text, reach_of(inspection.events), videos) if look not in inspection.looked
    ]
    if not looks and not inspection.looked:
        # A plan that cannot be used is no reason not to look at all.
        looks = default_looks(inspection.events, question.question)
    inspection.looked.update(looks)
    return looks


def _observe(run: QuestionRun, inspection: _Inspection, looks: Sequence[Look], this: _Round) -> None:
    """All looks of a round in flight together. One that fails finds nothing; if all do, that ends the inspection."""
    assert run.models.checker is not None
    tasks: list[Callable[[], _Report]] = []
    for look in looks:
        frames, available = frames_of_look(run.graph, look, inspection.nearby, limit=run.models.checker.max_frames)
        this.frames_available += available
        if frames:
            this.frames_used += len(frames)
            tasks.append(partial(_report, run, _request(run, inspection, look, frames), look, frames, this.meter))
    reports = run.together("check", tasks, details=["IN"] * len(tasks))
    for report in reports:
        inspection.findings += report.findings
        if report.halt:
            _stopped(run, this, report.halt)
    if not tasks:
        this.error = "no_frames"
    elif not this.error and all(report.error for report in reports):
        this.error = reports[0].error


def _request(run: QuestionRun, inspection: _Inspection, look: Look, frames: Sequence[StoredFrame]) -> ObserveRequest:
    evidence = frame_evidence(run.graph, frames, inspection.nearby)
    if look.high:
        evidence = tuple(
            replace(shown, jpeg=run.closer(frame) or shown.jpeg) for shown, frame in zip(evidence, frames, strict=True)
        )
    known = tuple(inspection.told())
    return ObserveRequest(run.question.question, look.find, inspection.hypothesis, known, evidence, look.high)


def _report(
    run: QuestionRun, request: ObserveRequest, look: Look, frames: Sequence[StoredFrame], meter: Meter
) -> _Report:
    try:
        sample = run.observe_frames(request, schema=findings_schema(), meter=meter)
    except Halt as halt:
        return _Report(error=halt.code, halt=halt)
    except ModelError as error:
        return _Report(error=error.code)
    if sample.refused:
        return _Report(error="model_refused")
    findings = read_findings(sample.text, look, frames)
    return _Report(error="unreadable") if findings is None else _Report(tuple(findings))


def _reflect(run: QuestionRun, inspection: _Inspection, state: State, this: _Round) -> AnswerNode:
    question, settings = run.question, run.settings
    told = [f"{number}. {text}" for number, text in enumerate(inspection.told(), start=1)]
    fields = {
        "found": "\n".join(told) or "none: the frames show nothing of what was looked for",
        "question": question.question,
        "choices": choice_lines(question.choices),
        "answers": "; ".join(map(as_data, inspection.answers)) or "none",
        "abstain": abstain_rule(question.choices, abstain=True),
        "words": settings.reasoning_words,
        "answer_form": answer_form(question.choices, abstain=True),
    }
    prompt = load("inspect_reflect", question.profile)
    context = _context(run, inspection, prompt.substitute(fields, events=""), settings.answer_tokens)
    messages = [Message("user", (prompt.substitute(fields, events=context.text),))]

    def sampled(meter: Meter) -> list[Sample]:
        n = settings.check_samples
        return run.ask(
            messages,
            stage="reflect",
            meter=meter,
            schema=reflection_schema(question.choices),
            n=n,
            temperature=settings.temperature if n > 1 else 0.0,
            max_tokens=settings.answer_tokens,
            seed=run.seed_of(state.path),
        )

    draw = check_answers(run, sampled, meter=this.meter)
    if draw.halt:
        run.halt(draw.halt)
    this.error = draw.error
    draw.started_ms = this.started_ms
    read = [
        resolved(parsed, text, inspection.findings, context)
        for parsed, text in zip(draw.parsed, draw.texts, strict=True)
    ]
    draw.parsed = [parsed for parsed, _ in read]
    votes = score_votes(
        draw.parsed,
        run.models.similarity,
        thresholds=run.models.calibration.thresholds,
        meter=this.meter,
        question=question.question,
        trade_off=settings.trade_off,
        rescale=settings.rescale,
    )
    if votes:
        inspection.missing = missing(draw.texts[votes[0].representative])
    seen: dict[UUID, StoredFrame] = {}
    for place in votes[0].members if votes else ():
        seen = read[place][1] | seen
    return AnswerNode(state.path, state, context, draw, tuple(votes), seen=seen)


def _recorded(run: QuestionRun, inspection: _Inspection, node: AnswerNode, this: _Round) -> NodeRecord:
    record = node_record(node, frames_used=this.frames_used, frames_available=this.frames_available)
    wall_ms = run.spending.elapsed_ms() - this.started_ms
    error = this.error or (run.halted.code if run.halted else "")
    return replace(record, error=error, seen=tuple(inspection.told()), wall_ms=wall_ms)


def _stopped(run: QuestionRun, this: _Round, error: Halt | ModelError) -> None:
    this.error = error.code
    if isinstance(error, Halt):
        run.halt(error)


def _context(
    run: QuestionRun,
    inspection: _Inspection,
    prompt: str,
    answer_tokens: int,
    *,
    stamp: Callable[[Span], str] | None = None,
) -> EventContext:
    """The suspects' events, as many as fit beside prompt (R9)."""
    reasoner = run.models.reasoner
    taken = count_prompt(reasoner.count_tokens, [Message("user", (prompt,))]) + answer_tokens
    return event_context(
        inspection.ranking,
        {event.id: event for event in inspection.events},
        (),
        count_tokens=reasoner.count_tokens,
        max_tokens=max(1, min(run.settings.context_tokens, reasoner.context_tokens - taken)),
        stamp=stamp,
    )


def _in_ms(span: Span) -> str:
    return f"{span.start_ms}-{span.end_ms} ms"
