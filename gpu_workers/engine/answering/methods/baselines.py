"""The baselines, which answer once: `uniform` looks at evenly spaced frames, `vector` at those nearest to the question,
and `caption_rag` reads the events nearest to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls, needed_checker
from gpu_workers.engine.answering.catalogue import CATALOGUE
from gpu_workers.engine.answering.context import EventContext
from gpu_workers.engine.answering.contract import Answer, NodeRecord
from gpu_workers.engine.answering.ending.final_answer import final_answer
from gpu_workers.engine.answering.ending.vote import Verdict
from gpu_workers.engine.answering.looking.frame_check import look_task, seen_node
from gpu_workers.engine.answering.methods.method import CataloguedMethod
from gpu_workers.engine.answering.presets import changed
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.sampling import Draw
from gpu_workers.engine.answering.search.summary_answer import (
    AnswerNode,
    answer_node,
    draw_from,
    node_record,
    show_events,
)
from gpu_workers.engine.models.roles import embed_queries
from gpu_workers.engine.ports import StoredFrame, ViewQuery
from gpu_workers.engine.retrieval.frames import frame_evidence, frames_of_hits, uniform_frames
from gpu_workers.engine.retrieval.fusion import RankedEvent, fuse

FRAMES, TOP_FRAMES, TOP_EVENTS = 64, 32, 16

SPARE = 4
"""Ratio of hits read to frames wanted, since neighbours closer than MIN_GAP_MS fall out."""

MIN_GAP_MS = 1_000
"""Minimum distance of two frames; closer ones show the same."""


class Uniform(CataloguedMethod, card=CATALOGUE["uniform"]):
    def answer(self, asked: Asked, calls: Calls) -> Answer:
        with calls.timed("retrieval"):
            frames = uniform_frames(asked.graph, count=_frame_limit(asked, FRAMES))
        calls.on_progress("retrieval", 1, 1, f"{len(frames)} frames")
        return _answer_from_frames(asked, calls, frames, available=len(frames))


class NearestFrames(CataloguedMethod, card=CATALOGUE["vector"]):
    def answer(self, asked: Asked, calls: Calls) -> Answer:
        count = _frame_limit(asked, TOP_FRAMES)
        with calls.timed("retrieval"):
            query = asked.models.frame_embedder.embed_query(asked.frame_query, meter=calls.meter)
            nearest = ViewQuery(query, SPARE * count)
            hits = asked.graph.search_views({"frame": nearest}, floor=asked.settings.retrieval.floor)["frame"]
            frames = frames_of_hits(asked.graph, hits)
        calls.on_progress("retrieval", 1, 1, f"{len(frames)} frames")
        top = max((hit.similarity for hit in hits), default=0.0)
        return _answer_from_frames(asked, calls, _spaced(frames, count), available=len(frames), top_similarity=top)


class CaptionRag(CataloguedMethod, card=CATALOGUE["caption_rag"]):
    def answer(self, asked: Asked, calls: Calls) -> Answer:
        """Answer by one sample at temperature 0: the cheap fallback."""
        asked = replace(asked, settings=changed(asked.settings, n=1, sa_ratio=1.0))
        with calls.timed("retrieval"):
            query = embed_queries(asked.models.text_embedder, [asked.query], meter=calls.meter)[0]
            nearest = ViewQuery(query, TOP_EVENTS)
            hits = asked.graph.search_views({"event": nearest}, floor=asked.settings.retrieval.floor)["event"]
        calls.on_progress("retrieval", 1, 1, f"{len(hits)} events")
        if not hits:
            return _without_events(asked, calls)
        state = State("", tuple(fuse({"event": hits})), top_similarity=max(hit.similarity for hit in hits))
        return answer_once(asked, calls, state, show_events(asked, state))


def answer_once(asked: Asked, calls: Calls, state: State, context: EventContext) -> Answer:
    """Answer once from context, without a search, as baselines do with the events they chose."""
    with calls.timed("search"):
        draw = calls.together("search", [partial(draw_from, asked, calls, state, context)])[0]
    if draw.halt:
        calls.halt(draw.halt)
    node = answer_node(asked, state, context, draw)
    return _of_node(asked, calls, node, node_record(node), state.top_similarity, single_sample=len(draw.parsed) == 1)


def _answer_from_frames(
    asked: Asked, calls: Calls, frames: Sequence[StoredFrame], *, available: int, top_similarity: float = 0.0
) -> Answer:
    """Return the checker's answer from frames, which are in order of time."""
    if not frames:
        return _without_events(asked, calls)
    loaded = asked.graph.load_events(list(dict.fromkeys(frame.event_id for frame in frames)))
    events = dict(enumerate(loaded.values(), start=1))
    state = State("", tuple(RankedEvent(event.id, 1.0 / len(events)) for event in events.values()))
    context = EventContext("", {event.id: number for number, event in events.items()}, events)
    evidence = frame_evidence(asked.graph, frames, list(events.values()))
    with calls.timed("check"):
        draw = calls.together("check", [look_task(asked, calls, evidence, ())])[0]
    if draw.halt:
        calls.halt(draw.halt)
    node = seen_node(asked, AnswerNode("", state, context, Draw()), draw)
    record = node_record(node, frames_used=len(frames), frames_available=available)
    return _of_node(asked, calls, node, record, top_similarity)


def _of_node(
    asked: Asked, calls: Calls, node: AnswerNode, record: NodeRecord, top: float, *, single_sample: bool = False
) -> Answer:
    verdict = Verdict(node, node.score, node.score, node) if node.answers else None
    return final_answer(
        asked, calls, nodes=[node], records=[record], verdict=verdict, top_similarity=top, single_sample=single_sample
    )


def _without_events(asked: Asked, calls: Calls) -> Answer:
    return final_answer(asked, calls, nodes=[], records=[], verdict=None, top_similarity=0.0)


def _frame_limit(asked: Asked, wanted: int) -> int:
    """Return wanted, but at most what the checker takes. Raises ModelError no_checker if there is none."""
    return min(wanted, needed_checker(asked.models).max_frames)


def _spaced(frames: Sequence[StoredFrame], count: int) -> list[StoredFrame]:
    """Return the first count frames of a ranking that are MIN_GAP_MS apart within a video, in order of time."""
    chosen: list[StoredFrame] = []
    for frame in frames:
        near = any(other.video_id == frame.video_id and abs(other.ms - frame.ms) < MIN_GAP_MS for other in chosen)
        if not near and len(chosen) < count:
            chosen.append(frame)
    return sorted(chosen, key=lambda frame: (frame.video_id, frame.ms))
