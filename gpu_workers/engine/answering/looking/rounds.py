"""The rounds of an inspection: planned looks, round by round, until what was seen is sufficient.

Each round plans looks, observes them and reflects on all findings so far. A look stays inside the inspection's reach,
and rounds, looks and frames are bounded, so the cost does not grow with the video. After Active Video Perception
(arXiv 2512.05774), from the paper only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import BranchMeter, Halt
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import NodeRecord
from gpu_workers.engine.answering.looking.inspection import (
    PLAN_TOKENS,
    Inspection,
    missing,
    observe,
    reflection_schema,
    resolved,
    sufficient,
)
from gpu_workers.engine.answering.looking.looks import (
    Look,
    neighbourhood,
    plan_schema,
    reach_of,
)
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.sampling import Draw, check_answers
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, node_record, scored
from gpu_workers.engine.answering.wording import abstain_rule, answer_form, as_data, choice_lines
from gpu_workers.engine.models.roles import Meter, ModelError, Sample
from gpu_workers.engine.ports import StoredFrame


@dataclass(slots=True)
class _RoundOutcome:
    """Outcome of one round. frames_used, frames_available: of its looks. error: "" if all went well."""

    meter: Meter
    started_ms: int
    error: str = ""
    frames_used: int = 0
    frames_available: int = 0


def look_in_rounds(
    asked: Asked,
    calls: Calls,
    inspection: Inspection,
    *,
    rounds: int,
    on_round: Callable[[AnswerNode], None] | None = None,
) -> tuple[list[AnswerNode], list[NodeRecord]]:
    """Return the node and the record of each round.

    It ends when findings suffice (settings.look.inspect_gate), after rounds, when a call fails, when the budget is
    exhausted, or when nothing is left to look at. on_round: called with each round's node.
    """
    nodes: list[AnswerNode] = []
    records: list[NodeRecord] = []
    state = inspection.state
    for _ in range(rounds):
        state = replace(state, path=state.after("IN"))
        current = _RoundOutcome(BranchMeter(calls.meter), calls.spending.elapsed_ms())
        node = _look_again(asked, calls, inspection, state, current)
        nodes.append(node)
        records.append(_recorded(calls, inspection, node, current))
        if on_round is not None:
            on_round(node)
        if current.error or calls.halted or sufficient(node, asked.settings.look.inspect_gate):
            break
    return nodes, records


def _look_again(asked: Asked, calls: Calls, inspection: Inspection, state: State, current: _RoundOutcome) -> AnswerNode:
    """Plan, observe, reflect. current.error says what ended the round early; then the node has no answer."""
    context = inspection.context(asked, "", 0)
    nothing = AnswerNode(state.path, state, context, Draw(started_ms=current.started_ms, meter=current.meter))
    looks = _plan(asked, calls, inspection, current)
    if not looks:
        current.error = current.error or "nothing_to_look_at"
        return nothing
    _observe(asked, calls, inspection, looks, current)
    if current.error or calls.halted:
        return nothing
    return _reflect(asked, calls, inspection, state, current)


def _plan(asked: Asked, calls: Calls, inspection: Inspection, current: _RoundOutcome) -> list[Look]:
    question = asked.question
    prompt, videos = inspection.plan_prompt(
        asked,
        {
            "question": question.question,
            "choices": choice_lines(question.choices),
            "answers": "; ".join(map(as_data, inspection.answers)) or "none",
            "found": "\n".join(inspection.in_words()) or "nothing yet",
            "missing": "; ".join(inspection.missing) or "not known yet",
            "looks": inspection.looks,
        },
    )
    try:
        sample = calls.ask(
            prompt,
            stage="plan",
            meter=current.meter,
            schema=plan_schema(several_videos=len(videos) > 1, looks=inspection.looks),
            max_tokens=PLAN_TOKENS,
            seed=asked.seed_of(f"plan {len(inspection.looked)}"),
        )[0]
    except (Halt, ModelError) as error:
        _stopped(calls, current, error)
        return []
    looks = inspection.planned(asked, sample.text, videos)
    inspection.looked.update(looks)
    return looks


def _observe(asked: Asked, calls: Calls, inspection: Inspection, looks: Sequence[Look], current: _RoundOutcome) -> None:
    """Make all looks of a round in parallel. A look that fails finds nothing; if all fail, the inspection ends."""
    assert asked.models.checker is not None
    shown: list[tuple[Look, Sequence[StoredFrame]]] = []
    for look in looks:
        frames, available = inspection.frames(asked, look, asked.models.checker.max_frames)
        current.frames_available += available
        if frames:
            current.frames_used += len(frames)
            shown.append((look, frames))
    events = inspection.seen(asked, [frame for _, frames in shown for frame in frames])
    reports = observe(
        asked, calls, shown, events,
        hypothesis=inspection.hypothesis, known=inspection.in_words(), meter=current.meter,
    )  # fmt: skip
    for report in reports:
        inspection.found(asked, report.findings)
        if report.halt:
            _stopped(calls, current, report.halt)
    if not shown:
        current.error = "no_frames"
    elif not current.error and all(report.error for report in reports):
        current.error = reports[0].error


def _reflect(asked: Asked, calls: Calls, inspection: Inspection, state: State, current: _RoundOutcome) -> AnswerNode:
    question, settings = asked.question, asked.settings
    findings = [f"{number}. {text}" for number, text in enumerate(inspection.in_words(), start=1)]
    fields = {
        "found": "\n".join(findings) or "none: the frames show nothing of what was looked for",
        "question": question.question,
        "choices": choice_lines(question.choices),
        "answers": "; ".join(map(as_data, inspection.answers)) or "none",
        "abstain": abstain_rule(question.choices, abstain=True),
        "words": settings.prompt.reasoning_words,
        "answer_form": answer_form(question.choices, abstain=True, language=asked.answer_language),
    }
    messages, context = inspection.judgement_prompt(asked, fields)

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


def _recorded(calls: Calls, inspection: Inspection, node: AnswerNode, current: _RoundOutcome) -> NodeRecord:
    record = node_record(node, frames_used=current.frames_used, frames_available=current.frames_available)
    wall_ms = calls.spending.elapsed_ms() - current.started_ms
    error = current.error or (calls.halted.code if calls.halted else "")
    return replace(record, error=error, seen=tuple(inspection.in_words()), wall_ms=wall_ms)


def _stopped(calls: Calls, current: _RoundOutcome, error: Halt | ModelError) -> None:
    current.error = error.code
    if isinstance(error, Halt):
        calls.halt(error)


# --- action IN: an inspection of the answers in doubt, in place of the frame check ------------------------------------


def inspect(asked: Asked, calls: Calls, suspects: Sequence[AnswerNode]) -> tuple[list[AnswerNode], list[NodeRecord]]:
    """Return the inspection's node if its findings suffice, else none; and a record per round."""
    rounds = asked.settings.look.inspect_rounds
    nodes, records = look_in_rounds(asked, calls, _inspection(asked, suspects), rounds=rounds)
    return [node for node in nodes[-1:] if sufficient(node, asked.settings.look.inspect_gate)], records


def _inspection(asked: Asked, suspects: Sequence[AnswerNode]) -> Inspection:
    shown = [event.event_id for node in suspects for event in node.state.events]
    ranking = tuple(dict.fromkeys(e for e in shown if any(e in node.context.numbers for node in suspects)))
    loaded = asked.graph.load_events(ranking)
    events = tuple(loaded[event_id] for event_id in ranking if event_id in loaded)
    answers = dict.fromkeys(node.answer.text for node in suspects if node.answer and node.answer.sufficient)
    nearby = tuple(neighbourhood(asked.graph, events))
    return Inspection(suspects[0].state, ranking, events, reach_of(events), tuple(answers), nearby)
