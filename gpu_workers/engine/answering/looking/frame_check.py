"""Action CA: look at the frames of the two best nodes that disagree, and answer again (AVA, section 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import CHECK_TOKENS, LABEL_TOKENS, Calls, needed_checker
from gpu_workers.engine.answering.contract import NodeRecord
from gpu_workers.engine.answering.parsing import answer_schema
from gpu_workers.engine.answering.search.sampling import Draw, check_answers
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, node_record, scored
from gpu_workers.engine.models.pictures import jpeg_tokens
from gpu_workers.engine.models.roles import CheckRequest, FrameEvidence
from gpu_workers.engine.ports import StoredFrame
from gpu_workers.engine.retrieval.frames import ROWS, evenly, frame_evidence


def check_suspects(
    asked: Asked, calls: Calls, suspects: Sequence[AnswerNode]
) -> tuple[list[AnswerNode], list[NodeRecord]]:
    """Return one CA node per suspect that has frames, and their records; suspects with equal events share a node."""
    hypotheses = tuple(dict.fromkeys(node.answer.text for node in suspects if node.answer and node.answer.sufficient))
    looks: list[tuple[AnswerNode, int, int]] = []
    tasks: list[Callable[[], Draw]] = []
    looked_at: set[frozenset[object]] = set()
    for node in suspects:
        key = frozenset(node.context.numbers)
        if key in looked_at:
            continue
        looked_at.add(key)
        frames, available = node_frames(asked, node)
        if frames:
            evidence = frame_evidence(asked.graph, frames, list(node.context.events.values()))
            if asked.settings.look.full_pictures:
                evidence = closer_look(asked, calls, evidence, frames)
            looks.append((node, len(evidence), available))
            tasks.append(look_task(asked, calls, evidence, hypotheses))
    draws = calls.together("check", tasks, details=[f"{used} pictures" for _, used, _ in looks])
    checked, records = [], []
    for (node, used, available), draw in zip(looks, draws, strict=True):
        if draw.halt:
            calls.halt(draw.halt)
        look = seen_node(asked, node, draw)
        checked.append(look)
        records.append(node_record(look, frames_used=used, frames_available=available))
    return checked, records


def node_frames(asked: Asked, node: AnswerNode) -> tuple[list[StoredFrame], int]:
    """Return frames of the events that the node showed, as many as the checker takes, and how many there are."""
    limit = needed_checker(asked.models).max_frames
    ids = list(node.context.numbers)
    frames = list(asked.graph.frames_of(ids, limit=limit))
    available = len(frames) if len(frames) < limit else len(asked.graph.frames_of(ids, limit=ROWS))
    return frames, available


def look_task(
    asked: Asked, calls: Calls, evidence: tuple[FrameEvidence, ...], hypotheses: tuple[str, ...]
) -> Callable[[], Draw]:
    """Return the call for the checker's samples on these frames, ready to run in another thread."""
    question, settings = asked.question, asked.settings
    request = CheckRequest(question.question, question.choices, hypotheses, evidence)
    schema = answer_schema(question.choices, abstain=settings.samples.abstain)
    return partial(
        check_answers,
        asked,
        calls,
        lambda meter: calls.check_frames(request, n=settings.look.check_samples, schema=schema, meter=meter),
    )


def seen_node(asked: Asked, node: AnswerNode, draw: Draw) -> AnswerNode:
    """Return the CA node of a draw. A checker cites frames, so the node cites no event."""
    draw.parsed = [parsed and replace(parsed, cited=()) for parsed in draw.parsed]
    return AnswerNode(node.state.after("CA"), node.state, node.context, draw, scored(asked, draw))


# --- pictures in full in place of thumbnails --------------------------------------------------------------------------

LEAST_IN_FULL = 4
"""Minimum number of pictures in full that the window must hold; else more thumbnails show more."""

PROMPT_TOKENS = 1_500
"""Tokens of a check's own words with the question and its choices, an upper estimate."""


def in_full(
    calls: Calls, evidence: Sequence[FrameEvidence], frames: Sequence[StoredFrame]
) -> tuple[FrameEvidence, ...]:
    """Return evidence with pictures in full, where there are some."""
    pictures = calls.closer(frames)
    return tuple(replace(shown, jpeg=picture or shown.jpeg) for shown, picture in zip(evidence, pictures, strict=True))


def closer_look(
    asked: Asked, calls: Calls, evidence: tuple[FrameEvidence, ...], frames: Sequence[StoredFrame]
) -> tuple[FrameEvidence, ...]:
    """Return fewer frames, evenly chosen, in full; evidence as it is for a checker that does not look at pictures, or
    if too few of them fit its window."""
    checker = needed_checker(asked.models)
    if not checker.sees or not frames:
        return evidence
    middle = len(frames) // 2
    (first,) = calls.closer([frames[middle]])
    if first is None:
        return evidence
    room = checker.capabilities.context_tokens - CHECK_TOKENS - PROMPT_TOKENS
    fitting = room // (jpeg_tokens(first, patch=checker.capabilities.picture_patch) + LABEL_TOKENS)
    count = min(asked.settings.look.full_pictures, fitting, checker.max_frames)
    if count < min(LEAST_IN_FULL, len(frames)):
        return evidence
    chosen = evenly(len(frames), count)
    others = [index for index in chosen if index != middle]
    pictures = {middle: first, **dict(zip(others, calls.closer([frames[index] for index in others]), strict=True))}
    return tuple(replace(evidence[index], jpeg=pictures[index] or evidence[index].jpeg) for index in chosen)
