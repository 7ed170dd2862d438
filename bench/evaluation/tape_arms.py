"""The compared ways of finding spans on a tape of hours (arms). None asks a language model."""

from __future__ import annotations

import random
from dataclasses import replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from bench.evaluation.captions import CaptionIndex
from bench.evaluation.datasets import Tape, TapeQuery
from bench.evaluation.lexical import Words, derangement
from bench.evaluation.models import unlimited_calls
from bench.evaluation.segment_arms import SEGMENT_ARMS, Segments
from bench.evaluation.timed_queries import with_time
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.answering.presets import settings_with
from gpu_workers.engine.answering.reading.placing import narrow_to_time
from gpu_workers.engine.answering.reading.times import times_in
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.roles import AnswerModels, Meter
from gpu_workers.engine.ports import KnowledgeGraph
from gpu_workers.engine.retrieval.moments import FoundSpan, moments
from gpu_workers.engine.retrieval.tri_view import HYBRID, RetrievalSettings, ViewQueries, question_text, retrieve

TAPE_ARMS = (
    "tfidf",
    "shuffled",
    "uniform_captions",
    "caption_rag",
    "ava_paper",
    "ava_no_graph",
    "ava_no_moments",
    "ava_semantic",
    "ava",
    "ava_timed",
    "time_alone",
    *SEGMENT_ARMS,
)
"""Arms for tapes: all rank spans, and none asks a language model. ava_timed: `ava` with queries that name a time.
time_alone: events drawn at random from the time that the same queries name."""

TIMED = frozenset({"ava_timed", "time_alone"})

TAPE_RETRIEVAL = replace(HYBRID, frames=0, transcript=0, rewriting=False)
TAPE_SEMANTIC = RetrievalSettings(
    events=32, entities=8, frames=0, transcript=0, graph_events=8, rewriting=False, words=0
)
"""What an answer reads of a question that names nothing literally."""
TAPE_RANKS = 10


class TapeArm:
    """Ranks spans of a tape for a query by one arm."""

    def __init__(self, name: str, tape: Tape, models: AnswerModels, index: CaptionIndex, *, seed: int = 0) -> None:
        if name not in TAPE_ARMS:
            raise ValueError(f"no arm {name!r} for tapes; there are {', '.join(TAPE_ARMS)}")
        self._name, self._tape, self._models, self._seed = name, tape, models, seed
        self._graph: InMemoryGraph | None = None
        self._segments: Segments | None = None
        self._spans: dict[UUID, Span] = {}
        self._words: NDArray[np.float64] | None = None
        if name == "tfidf":
            texts = [event.text for event in tape.events]
            self._words = Words(texts).similarity([query.text for query in tape.queries], texts)
            self._rows = {query.id: row for row, query in enumerate(tape.queries)}
        elif name in SEGMENT_ARMS:
            self._segments = Segments(name, tape, index, models.text_embedder, seed=seed)
        elif name != "uniform_captions":
            memory: MemoryVideo = index.of_events(f"{tape.name}-{seed}", tape.events)
            self._graph = InMemoryGraph([memory])
            self._spans = {record.event.id: record.event.span for record in memory.events}
            self._number = {record.event.id: record.event.n for record in memory.events}
            self._video = memory.video_id
        self._other = derangement([query.id for query in tape.queries], seed)
        self._texts = {query.id: query.text for query in tape.queries}

    def ask(self, query: TapeQuery) -> list[Span]:
        """Return spans, the best first, at most TAPE_RANKS."""
        if self._words is not None:
            order = np.argsort(-self._words[self._rows[query.id]], kind="stable")[:TAPE_RANKS]
            return [self._tape.events[position].span for position in order]
        if self._segments is not None:
            return self._segments.nearest(query.text, TAPE_RANKS)
        if self._graph is None:
            events = range(len(self._tape.events))
            positions = random.Random(f"{self._seed} {query.id}").sample(events, min(TAPE_RANKS, len(events)))
            return [self._tape.events[position].span for position in positions]
        text = self._texts[self._other[query.id]] if self._name == "shuffled" else query.text
        graph: KnowledgeGraph = self._graph
        if self._name in TIMED:
            asked = self._in_time(query)
            graph, text = asked.graph, asked.searched
        if self._name == "time_alone":
            return self._drawn(query, graph)
        settings = TAPE_RETRIEVAL
        if self._name == "caption_rag":
            settings = replace(TAPE_SEMANTIC, entities=0, graph_events=0, context=0.0)
        elif self._name == "ava_paper":
            settings = replace(TAPE_SEMANTIC, graph_events=0, context=0.0, fusion="borda", weights={})
        elif self._name == "ava_semantic":
            settings = TAPE_SEMANTIC
        elif self._name == "ava_no_graph":
            settings = replace(TAPE_SEMANTIC, graph_events=0)
        retrieved = retrieve(
            graph,
            ViewQueries.same(question_text(text, ())),
            settings,
            text_embedder=self._models.text_embedder,
            frame_embedder=self._models.frame_embedder,
            meter=Meter(),
        )
        if self._name not in {"ava", "ava_timed", "ava_no_graph", "ava_semantic", "shuffled"}:
            return [self._spans[event.event_id] for event in retrieved.ranking[:TAPE_RANKS]]
        spans = [
            FoundSpan(
                self._video, event.event_id, self._number[event.event_id], self._spans[event.event_id], event.score
            )
            for event in retrieved.ranking
        ]
        return [moment.span for moment in moments(spans)[:TAPE_RANKS]]

    def _in_time(self, query: TapeQuery) -> Asked:
        """Return what the engine understands of the query with a time, by its rules alone."""
        assert self._graph is not None
        text, settings = with_time(query, seed=self._seed), settings_with("medium", self._models)
        asked = Asked(QuestionInput(text), self._graph, self._models, settings, searched=text)
        named, searched = times_in(text, "en")
        calls = unlimited_calls(self._models, Meter())
        return narrow_to_time(asked, calls, named, chosen_by="figures", searched=searched)

    def _drawn(self, query: TapeQuery, graph: KnowledgeGraph) -> list[Span]:
        """Return the spans of events of the graph, drawn at random."""
        whole = Span(0, self._tape.duration_ms)
        spans = [event.span for event in graph.events_between(self._video, whole, limit=len(self._tape.events))]
        return random.Random(f"{self._seed} {query.id}").sample(spans, min(TAPE_RANKS, len(spans)))
