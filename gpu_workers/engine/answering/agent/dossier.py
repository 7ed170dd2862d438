"""The one head of all methods that gather evidence step by step: what was shown becomes an answer with its citations.

So methods differ in the evidence that they find, and not in how an answer is drawn from it or how sure it claims to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gpu_workers.engine.answering.agent.shown import Shown, dossier_messages, shown_so_far
from gpu_workers.engine.answering.agent.tools.contract import Artifact
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.choices.support import Support, choice_support
from gpu_workers.engine.answering.choices.weighing import weigh_support
from gpu_workers.engine.answering.contract import Answer, NodeRecord
from gpu_workers.engine.answering.ending.final_answer import NOTHING_SHOWN, final_answer, finish_reason, without_text
from gpu_workers.engine.answering.ending.vote import Verdict
from gpu_workers.engine.answering.identity import ANSWER_PROMPTS, CITATION_PROMPTS
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.presets import changed
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.consistency import AnswerVote
from gpu_workers.engine.answering.search.sampling import Draw, draw_answers
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, node_record, scored
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.retrieval.fusion import RankedEvent

DOSSIER_PROMPTS = ANSWER_PROMPTS | CITATION_PROMPTS | {"dossier_rules", "dossier_question", "judge_choice"}


def answer_from(
    desk: Desk,
    *,
    records: Sequence[NodeRecord],
    top_similarity: float,
    needs: Iterable[Artifact],
    proposed: ParsedAnswer | None = None,
    hint: str = "",
    error: ModelError | None = None,
) -> Answer:
    """Return the answer that desk.sightings give, in the same way for every method.

    records: of the steps so far. needs: of the method; Answer.degraded names what is missing of them. proposed: the
    method's own answer, its cited numbers those of the sightings. It stands alone at effort `paper`; else it counts
    only if the head has no answer, because the budget ended or its call failed. hint: what the method worked out
    itself, in words. error: what ended the method's own steps early; raised if there is nothing to answer from.
    """
    asked, calls = desk.asked, desk.calls
    degraded = desk.degraded(needs)
    own_rule = asked.settings.effort == "paper" and proposed is not None
    best_so_far = proposed is not None and proposed.sufficient and calls.halted is not None
    if not len(desk.sightings) and not hint and not own_rule and not best_so_far:
        if error is not None:
            raise error
        return _abstention(desk, records, degraded)
    shown = shown_so_far(desk, proposed, hint)
    state = State("", _ranked(shown), top_similarity=top_similarity)
    support: Support | None = None
    nodes: list[AnswerNode] = []
    made = list(records)
    verdict: Verdict | None = None
    if not own_rule:
        support = _support(asked, calls, shown)
        nodes = _voted(_voting(asked, support), desk, state, shown)
        made += [node_record(node) for node in nodes]
        verdict = next((Verdict(node, node.score, margin_of(node), node) for node in nodes if node.answers), None)
        verdict, weighed = weigh_support(asked, calls, verdict, nodes, support, numbers=desk.sightings.numbers)
        made += [weighed] if weighed else []
    if proposed is not None and verdict is None and not any(node.votes for node in nodes):
        own = _own(asked, state, shown, proposed)
        nodes, support = [own], None
        verdict = Verdict(own, own.score, own.score, own) if own.answers else None
    answer = final_answer(
        asked,
        calls,
        nodes=nodes,
        records=made,
        verdict=verdict,
        top_similarity=top_similarity,
        support=support.shares if support else (),
        single_sample=verdict is not None and len(verdict.node.draw.parsed) == 1,
    )
    return replace(answer, degraded=degraded)


def _abstention(desk: Desk, records: Sequence[NodeRecord], degraded: tuple[str, ...]) -> Answer:
    calls = desk.calls
    reason, detail = finish_reason(calls, [], answered=False)
    if not calls.halted and desk.extents:
        detail = NOTHING_SHOWN
    return replace(without_text(calls, records, reason, detail), degraded=degraded)


def _ranked(shown: Shown) -> tuple[RankedEvent, ...]:
    return tuple(RankedEvent(event.id, 1.0 / rank) for rank, event in enumerate(shown.events, start=1))


def _support(asked: Asked, calls: Calls, shown: Shown) -> Support | None:
    """Return what the shown events say for each choice; None if it does not count or cannot be embedded."""
    if asked.settings.support.weight == 0.0 or not asked.question.choices:
        return None
    try:
        return choice_support(asked, calls, shown=shown.events)
    except ModelError:
        return None


def _voting(asked: Asked, support: Support | None) -> Asked:
    """Return asked with as many samples as can still matter: one where the choice is decided, if it may be abstained
    from, and one at effort `paper`, whose own answer is missing."""
    samples = asked.settings.samples
    if support is not None and support.decides(asked):
        return replace(asked, settings=changed(asked.settings, n=int(samples.abstain)))
    return replace(asked, settings=changed(asked.settings, n=1)) if asked.settings.effort == "paper" else asked


def _voted(asked: Asked, desk: Desk, state: State, shown: Shown) -> list[AnswerNode]:
    """Return the node of the samples drawn from what was shown, without votes if the call failed; none if no sample is
    needed."""
    n = asked.settings.samples.n
    if not n:
        return []
    with desk.calls.timed("answer"):
        draw = draw_answers(asked, desk.calls, dossier_messages(asked, shown), path="SA", n=n)
        votes = scored(asked, draw)
    desk.calls.on_progress("search", 1, 1, "SA")
    if draw.halt:
        desk.calls.halt(draw.halt)
    return [AnswerNode("SA", state, shown.context, draw, votes, seen=shown.frames, findings=shown.findings)]


def margin_of(node: AnswerNode) -> float:
    """Return S of the node's answer less that of its best other answer."""
    others = [vote.score for vote in node.votes[1:] if (p := node.draw.parsed[vote.representative]) and p.sufficient]
    return node.score - max(others, default=0.0)


def _own(asked: Asked, state: State, shown: Shown, proposed: ParsedAnswer) -> AnswerNode:
    """Return the node of the method's own answer."""
    gate = asked.settings.tree.gate
    draw = Draw(parsed=[proposed])
    return AnswerNode(
        "SA",
        state,
        shown.context,
        draw,
        (AnswerVote((0,), 0, 1.0, 0.0, gate),),
        seen=shown.frames,
        findings=shown.findings,
    )
