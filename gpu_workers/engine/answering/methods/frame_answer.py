"""The shared part of `uniform` and `vector`: the checker answers from frames alone."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls, needed_checker
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.ending.final_answer import final_answer
from gpu_workers.engine.answering.ending.vote import Verdict
from gpu_workers.engine.answering.looking.frame_check import look_task, seen_node
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.sampling import Draw
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, node_record
from gpu_workers.engine.ports import StoredFrame
from gpu_workers.engine.retrieval.frames import frame_evidence
from gpu_workers.engine.retrieval.fusion import RankedEvent

MIN_GAP_MS = 1_000
"""Minimum distance of two frames; closer ones show the same."""


def frame_limit(asked: Asked, wanted: int) -> int:
    """Return wanted, but at most what the checker takes. Raises ModelError no_checker if there is none."""
    return min(wanted, needed_checker(asked.models).max_frames)


def answer_from_frames(
    asked: Asked, calls: Calls, frames: Sequence[StoredFrame], *, available: int, top_similarity: float
) -> Answer:
    """Return the checker's answer from frames, which are in order of time."""
    if not frames:
        return final_answer(asked, calls, nodes=[], records=[], verdict=None, top_similarity=0.0)
    loaded = asked.graph.load_events(list(dict.fromkeys(frame.event_id for frame in frames)))
    events = dict(enumerate(loaded.values(), start=1))
    state = State("", tuple(RankedEvent(event.id, 1.0 / len(events)) for event in events.values()))
    context = EventContext("", {event.id: number for number, event in events.items()}, events)
    unseen = AnswerNode("", state, context, Draw())
    evidence = frame_evidence(asked.graph, frames, list(events.values()))
    with calls.timed("check"):
        draw = calls.together("check", [look_task(asked, calls, evidence, ())])[0]
    if draw.halt:
        calls.halt(draw.halt)
    node = seen_node(asked, unseen, draw)
    record = node_record(node, frames_used=len(frames), frames_available=available)
    verdict = Verdict(node, node.score, node.score, node) if node.answers else None
    return final_answer(asked, calls, nodes=[node], records=[record], verdict=verdict, top_similarity=top_similarity)


def spaced(frames: Sequence[StoredFrame], count: int) -> list[StoredFrame]:
    """Return the first count frames of a ranking that are MIN_GAP_MS apart within a video, in order of time."""
    chosen: list[StoredFrame] = []
    for frame in frames:
        near = any(other.video_id == frame.video_id and abs(other.ms - frame.ms) < MIN_GAP_MS for other in chosen)
        if not near and len(chosen) < count:
            chosen.append(frame)
    return sorted(chosen, key=lambda frame: (frame.video_id, frame.ms))
