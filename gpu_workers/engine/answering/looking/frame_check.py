"""Action CA: look at the frames of the two best nodes that disagree, and answer anew (AVA, section 5.3); or action IN
in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from gpu_workers.engine.answering.contract import NodeRecord
from gpu_workers.engine.answering.looking.inspection import inspect
from gpu_workers.engine.answering.parsing import ParsedAnswer, answer_schema
from gpu_workers.engine.answering.run import QuestionRun
from gpu_workers.engine.answering.search.consistency import group_answers, score_votes
from gpu_workers.engine.answering.search.sampling import Draw, check_answers
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, node_record
from gpu_workers.engine.models.roles import CheckRequest
from gpu_workers.engine.ports import StoredFrame
from gpu_workers.engine.retrieval.frames import ROWS, frame_evidence


@dataclass(frozen=True, slots=True)
class Verdict:
    """The node whose answer is given. score: its S; margin: how far the best other answer is behind.
    source: the node to cite from: an inspection that names its frames, else the SA node that gave the same answer; None
    if only frames said so. vote: where score counts more than S, the S in it; None if nobody voted so."""

    node: AnswerNode
    score: float
    margin: float
    source: AnswerNode | None
    vote: float | None = None


def decide(run: QuestionRun, nodes: Sequence[AnswerNode]) -> tuple[Verdict | None, list[NodeRecord]]:
    """The final answer of nodes, after a frame check or an inspection where the settings ask for one; and its records.

    None when no node answers and frames do not help. Any failure of the check leaves the SA answer.
    """
    rivals = best_rivals(run, nodes)
    standing = _standing(rivals)
    settings = run.settings
    doubtful = not rivals or rivals[0].score < settings.gate
    due = len(rivals) > 1 if settings.check == "on_disagreement" else len(rivals) > 1 or doubtful
    if settings.check == "off" or not due or run.halted or run.models.checker is None:
        return standing, []
    suspects = (
        list(rivals[:2])
        or sorted((node for node in nodes if node.answer is not None), key=lambda node: -node.score)[:1]
    )
    if not suspects:
        return standing, []
    with run.timed("check"):
        checked, records = inspect(run, suspects) if settings.look == "inspect" else _check(run, suspects)
    return _weigh(run, rivals, checked) or standing, records


def best_rivals(run: QuestionRun, nodes: Sequence[AnswerNode]) -> list[AnswerNode]:
    """The best node of each distinct answer, best first."""
    answering = sorted((node for node in nodes if node.answers), key=lambda node: -node.score)
    groups = _alike(run, [node.answer for node in answering])
    return [answering[group[0]] for group in sorted(groups)]


def _alike(run: QuestionRun, answers: Sequence[ParsedAnswer | None]) -> list[tuple[int, ...]]:
    """Return the indices of the answers, grouped by what they say."""
    models = run.models
    return group_answers(answers, models.similarity, models.calibration.thresholds, run.meter, run.question.question)


def _standing(rivals: Sequence[AnswerNode]) -> Verdict | None:
    if not rivals:
        return None
    best = rivals[0]
    margin = best.score - (rivals[1].score if len(rivals) > 1 else 0.0)
    return Verdict(best, best.score, margin, best)


def _check(run: QuestionRun, suspects: Sequence[AnswerNode]) -> tuple[list[AnswerNode], list[NodeRecord]]:
    """One CA node per suspect; nodes with the same events share one."""
    hypotheses = tuple(dict.fromkeys(node.answer.text for node in suspects if node.answer and node.answer.sufficient))
    looks: list[tuple[AnswerNode, int, int]] = []
    tasks: list[Callable[[], Draw]] = []
    seen: set[frozenset[object]] = set()
    for node in suspects:
        key = frozenset(node.context.numbers)
        if key in seen:
            continue
        seen.add(key)
        frames, available = node_frames(run, node)
        if frames:
            looks.append((node, len(frames), available))
            tasks.append(look_task(run, node, frames, hypotheses))
    draws = run.together("check", tasks, details=[node.state.after("CA") for node, _, _ in looks])
    checked, records = [], []
    for (node, used, available), draw in zip(looks, draws, strict=True):
        if draw.halt:
            run.halt(draw.halt)
        look = seen_node(run, node, draw)
        checked.append(look)
        records.append(node_record(look, frames_used=used, frames_available=available))
    return checked, records


def node_frames(run: QuestionRun, node: AnswerNode) -> tuple[list[StoredFrame], int]:
    """Frames of the events the node showed, as many as the checker takes, and how many there are (R9)."""
    assert run.models.checker is not None
    limit = run.models.checker.max_frames
    ids = list(node.context.numbers)
    frames = list(run.graph.frames_of(ids, limit=limit))
    available = len(frames) if len(frames) < limit else len(run.graph.frames_of(ids, limit=ROWS))
    return frames, available


def look_task(
    run: QuestionRun, node: AnswerNode, frames: Sequence[StoredFrame], hypotheses: tuple[str, ...]
) -> Callable[[], Draw]:
    """The checker's samples on these frames, ready to run in another thread."""
    question, settings = run.question, run.settings
    evidence = frame_evidence(run.graph, frames, list(node.context.events.values()))
    request = CheckRequest(question.question, question.choices, hypotheses, evidence)
    schema = answer_schema(question.choices, abstain=settings.abstain)
    return partial(
        check_answers,
        run,
        lambda meter: run.check_frames(request, n=settings.check_samples, schema=schema, meter=meter),
    )


def seen_node(run: QuestionRun, node: AnswerNode, draw: Draw) -> AnswerNode:
    """The CA node of a draw. What a checker cites are frames, so it cites no event."""
    draw.parsed = [parsed and replace(parsed, cited=()) for parsed in draw.parsed]
    votes = score_votes(
        draw.parsed,
        run.models.similarity,
        thresholds=run.models.calibration.thresholds,
        meter=draw.meter,
        question=run.question.question,
        trade_off=run.settings.trade_off,
        rescale=run.settings.rescale,
    )
    return AnswerNode(node.state.after("CA"), node.state, node.context, draw, tuple(votes))


def _weigh(run: QuestionRun, rivals: Sequence[AnswerNode], checked: Sequence[AnswerNode]) -> Verdict | None:
    """The check's answer: in `paper` the best CA node's. In `ours` frames decide between the rivals, but an answer that
    no SA node gave must also be more consistent than theirs. None: the check says nothing."""
    looks = best_rivals(run, checked)
    if not looks:
        return None
    best = looks[0]
    agreeing = next((rival for rival in rivals if len(_alike(run, [rival.answer, best.answer])) == 1), None)
    if agreeing is None and run.settings.adaptive and rivals and rivals[0].score > best.score:
        return None
    score = max(best.score, agreeing.score if agreeing else 0.0)
    others = [node.score for node in looks[1:]]
    if not others:
        others = [node.score for node in rivals if node is not agreeing]
    # An inspection names the frames it rests on; a frame check only sees, and the agreeing node says which events.
    source = best if best.seen else agreeing
    return Verdict(best, score, max(0.0, score - max(others, default=0.0)), source)
