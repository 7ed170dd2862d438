"""The answer of a round: from the local frames next to what is known, or without eyes from words (AVATAAR, eq. 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpu_workers.engine.answering.agent.closing import weighs
from gpu_workers.engine.answering.agent.shown import dossier_messages, shown_so_far
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.ending.claims import claims_of
from gpu_workers.engine.answering.ending.evidence import Checks, Statement, find_evidence
from gpu_workers.engine.answering.looking.frame_check import closer_look
from gpu_workers.engine.answering.methods.avataar.local_context import LocalContext
from gpu_workers.engine.answering.parsing import answer_schema
from gpu_workers.engine.answering.presets import changed
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.sampling import check_answers, draw_answers
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, scored
from gpu_workers.engine.models.roles import CheckRequest
from gpu_workers.engine.retrieval.frames import frame_evidence
from gpu_workers.engine.retrieval.fusion import RankedEvent


def answer_round(desk: Desk, question: str, local: LocalContext, known: Sequence[str]) -> AnswerNode:
    """Return the answer from local frames, or from everything shown so far if no model looks at them or there are none.

    question: with what was added to it. known: G, what functions returned, spoken lines. It may abstain. Raises nothing
    of a model.
    """
    if desk.asked.models.eyes and local.frames:
        return _by_frames(desk, question, local, known)
    return _by_words(desk)


def bears_out(desk: Desk, node: AnswerNode) -> bool:
    """Whether a citation from what was shown supports the node's answer, by words alone."""
    if node.answer is None or not node.answers:
        return False
    shown = shown_so_far(desk, node.answer, "")
    numbers = desk.sightings.numbers
    events = {numbers[event.id]: event for event in shown.events}
    context = EventContext("", {event.id: number for number, event in events.items()}, events)
    whole = replace(node, context=context)
    statements = [Statement(claim) for claim in claims_of(node.answer)]
    by_words = Checks(reasoner=False, frames=False, best_frames=False)
    found = find_evidence(desk.asked, desk.calls, whole, statements, whole=node.answer.text, checks=by_words)
    return any(statement.status == "supported" for statement in found.statements)


def _by_frames(desk: Desk, question: str, local: LocalContext, known: Sequence[str]) -> AnswerNode:
    asked, calls = desk.asked, desk.calls
    settings, choices = asked.settings, asked.question.choices
    evidence = frame_evidence(asked.graph, local.frames, local.events)
    if settings.look.full_pictures:
        evidence = closer_look(asked, calls, evidence, local.frames)
    request = CheckRequest(question, choices, (), evidence, tuple(known))
    schema = answer_schema(choices, abstain=True)
    n = settings.look.check_samples
    draw = check_answers(asked, calls, lambda meter: calls.check_frames(request, n=n, schema=schema, meter=meter))
    if draw.halt:
        calls.halt(draw.halt)
    # A checker cites frames by their place, so its numbers name no event.
    draw.parsed = [parsed and replace(parsed, cited=()) for parsed in draw.parsed]
    numbers = {event.id: desk.sightings.numbers[event.id] for event in local.events}
    events = {numbers[event.id]: event for event in local.events}
    state = State(desk.path, tuple(RankedEvent(event.id, 1.0 / len(numbers)) for event in local.events))
    frames = {frame.event_id: frame for frame in reversed(local.frames)}
    return AnswerNode(desk.path, state, EventContext("", numbers, events), draw, scored(asked, draw), seen=frames)


def _by_words(desk: Desk) -> AnswerNode:
    """Return the answer that the shared head would draw from everything shown so far."""
    n = 1 if weighs(desk.asked) else desk.asked.settings.samples.n
    asked = replace(desk.asked, settings=changed(desk.asked.settings, early_majority=False, n=n))
    shown = shown_so_far(desk, None, "")
    draw = draw_answers(asked, desk.calls, dossier_messages(asked, shown), path=desk.path, n=n)
    if draw.halt:
        desk.calls.halt(draw.halt)
    state = State(
        desk.path, tuple(RankedEvent(event.id, 1.0 / rank) for rank, event in enumerate(shown.events, start=1))
    )
    return AnswerNode(desk.path, state, shown.context, draw, scored(asked, draw), seen=shown.frames)
