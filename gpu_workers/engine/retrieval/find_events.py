"""Search without an answer: by meaning, by words and by the names of things, in one ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from gpu_workers.engine.ekg import Vector
from gpu_workers.engine.models.roles import FrameEmbedder, Meter, TextEmbedder, embed_queries
from gpu_workers.engine.ports import Hit, KnowledgeGraph, NamedView, ViewName, ViewQuery
from gpu_workers.engine.retrieval.fusion import Fusion, RankedEvent, fuse
from gpu_workers.engine.retrieval.tri_view import (
    GRAPH_SEEDS,
    HYBRID,
    LITERAL_WEIGHT,
    MOST_EXACT,
    NO_VECTOR,
    RetrievalSettings,
)
from gpu_workers.engine.retrieval.word_terms import asked_words
from gpu_workers.engine.retrieval.words import tokens

SearchMode = Literal["semantic", "words", "hybrid"]
"""semantic: by meaning, with vectors. words: by the words themselves and by names, without a model. hybrid: both."""

MODES: tuple[SearchMode, ...] = get_args(SearchMode)

SEMANTIC: tuple[ViewName, ...] = ("event", "entity", "frame", "transcript", "topic")
NAMED: tuple[NamedView, ...] = ("name", "title", "object")
FINDING: tuple[str, ...] = (*SEMANTIC, "words", *NAMED)
"""Views that find events by a query; the view graph adds events that are connected with these."""

_SEMANTIC = RetrievalSettings()

_WEIGHTS: Mapping[SearchMode, Mapping[str, float]] = {
    "semantic": {
        **{view: _SEMANTIC.weights.get(view, 1.0) for view in ("event", "entity", "frame", "transcript", "graph")},
        "topic": 0.25,
    },
    "words": {"words": 1.0, "name": 0.5, "title": 0.25, "object": 0.25},
    "hybrid": {
        **{view: HYBRID.weights.get(view, 1.0) for view in ("event", "frame", "transcript", "words")},
        "name": 0.1,
        "title": 0.05,
        "object": 0.05,
    },
}
"""Weights of the views by mode. A name, a topic or an object is in many events: its hits fill a list up behind those of
events. These weights are judgement; the others are those of RetrievalSettings and HYBRID, measured on tapes."""


@dataclass(frozen=True, slots=True)
class FindSettings:
    """limit: maximum number of events. weights: by view; a view of weight 0, or without a weight, is not searched.

    usual: least numbers of items and the context of events. literal: weight of the words where the search names
    something that is found by its letters; None for its own weight.
    """

    limit: int
    weights: Mapping[str, float]
    fusion: Fusion
    usual: RetrievalSettings = _SEMANTIC
    literal: float | None = None

    @classmethod
    def of(
        cls, mode: SearchMode, *, limit: int, weights: Mapping[str, float] | None = None, fusion: Fusion | None = None
    ) -> FindSettings:
        """Return the settings of a mode. weights, fusion: those that a caller chose instead of the mode's."""
        hybrid, own = mode == "hybrid", weights_in(mode)
        chosen = {**own, **(weights or {})}
        literal = LITERAL_WEIGHT if hybrid and chosen["words"] == own["words"] else None
        return cls(limit, chosen, fusion or fusion_in(mode), HYBRID if hybrid else _SEMANTIC, literal)

    def searches(self, view: str) -> bool:
        return self.weights.get(view, 0.0) > 0.0

    def items(self, view: str, least: int) -> int:
        """Return the number of items that a view reads: enough to fill the limit."""
        return max(least, self.limit) if self.searches(view) else 0


def weights_in(mode: SearchMode) -> dict[str, float]:
    """Return the weight of every view in a mode, 0 for the views that it leaves out."""
    return {view: _WEIGHTS[mode].get(view, 0.0) for view in (*FINDING, "graph")}


def fusion_in(mode: SearchMode) -> Fusion:
    """Return the usual fusion of a mode."""
    if mode == "words":
        return "rrf"
    return HYBRID.fusion if mode == "hybrid" else _SEMANTIC.fusion


@dataclass(frozen=True, slots=True)
class QueryVectors:
    """The query as unit vectors in the space of texts and of frames; empty where no view needs it."""

    text: Vector
    frame: Vector


def embed_search(
    text: str, settings: FindSettings, *, text_embedder: TextEmbedder, frame_embedder: FrameEmbedder, meter: Meter
) -> QueryVectors:
    """Return the vectors of a query. Each model is called only if a view needs it. Raises ModelError."""
    by_text = any(settings.searches(view) for view in SEMANTIC if view != "frame")
    return QueryVectors(
        embed_queries(text_embedder, [text], meter=meter)[0] if by_text else NO_VECTOR,
        frame_embedder.embed_query(text, meter=meter) if settings.searches("frame") else NO_VECTOR,
    )


def find_events(
    graph: KnowledgeGraph, text: str, settings: FindSettings, vectors: QueryVectors, *, exact: Sequence[str] = ()
) -> list[RankedEvent]:
    """Return the best events for text, at most settings.limit, each with every hit that found it.

    vectors: of embed_search() for the same text and settings. exact: phrases; only events whose summary, speech or
    writing contains all of them are returned. A text without a letter or digit finds nothing: its vector means nothing.
    """
    if not tokens(text):
        return []
    queries = _queries(settings, vectors)
    usual, weights = settings.usual, dict(settings.weights)
    if settings.literal is not None and asked_words(text, exact).literal:
        weights["words"] = settings.literal
    words = settings.items("words", usual.words)
    if words or exact:
        queries["words"] = ViewQuery(NO_VECTOR, MOST_EXACT if exact else words, text=text, exact=tuple(exact))
    hits = graph.search_views(queries, floor=usual.floor) if queries else {}
    views: dict[str, Sequence[Hit]] = {name: hits[name] for name in queries if settings.searches(name)}
    if words:
        views["words"] = views["words"][:words]
    if any(map(settings.searches, NAMED)):
        named = graph.things_named(text, limit=max(settings.items(view, usual.transcript) for view in NAMED))
        views |= {view: named[view] for view in NAMED if settings.searches(view)}
    ranking = fuse(views, fusion=settings.fusion, weights=weights)
    if settings.searches("graph") and ranking:
        seeds = [event.event_id for event in ranking[:GRAPH_SEEDS]]
        connected = graph.events_sharing_entities(seeds, limit=settings.items("graph", usual.graph_events))
        ranking = fuse({**views, "graph": connected}, fusion=settings.fusion, weights=weights)
    if exact:
        containing = {hit.event_id for hit in hits["words"]}
        ranking = [event for event in ranking if event.event_id in containing]
    return ranking[: settings.limit]


def _queries(settings: FindSettings, vectors: QueryVectors) -> dict[ViewName, ViewQuery]:
    """Return the queries of the views by meaning."""
    usual = settings.usual
    sizes: dict[ViewName, int] = {
        "event": settings.items("event", usual.events),
        "entity": settings.items("entity", usual.entities),
        # Several frames may show the same event.
        "frame": max(usual.frames, 2 * settings.limit) if settings.searches("frame") else 0,
        "transcript": settings.items("transcript", usual.transcript),
        "topic": settings.items("topic", usual.transcript),
    }
    queries = {
        view: ViewQuery(vectors.frame if view == "frame" else vectors.text, size)
        for view, size in sizes.items()
        if size
    }
    if sizes["event"]:
        queries["event"] = ViewQuery(vectors.text, sizes["event"], usual.context, crowding=usual.crowding)
    return queries
