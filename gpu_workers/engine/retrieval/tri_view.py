"""Tri-view retrieval: events, entities and frames that match a question, as one ranked list (AVA, section 5.1).

Speech is a fourth view, and the graph's connections are a fifth; both can be turned off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpu_workers.engine.models.roles import FrameEmbedder, Meter, TextEmbedder, embed_queries
from gpu_workers.engine.ports import Hit, KnowledgeGraph, ViewName, ViewQuery
from gpu_workers.engine.retrieval.fusion import Fusion, RankedEvent, fuse

GRAPH_SEEDS = 5
"""Number of the best events that the graph view starts from."""

WEIGHTS: Mapping[str, float] = {"entity": 0.1, "graph": 0.1, "transcript": 0.5}
"""Weights of the views in a fusion; 1 for a view without one. Hits of entities and the graph fill the list up behind
the events' own hits: with more weight they push the right event off the first rank (docs/evaluation.md)."""


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """Numbers of items that the views return; a view of 0 is not asked.

    events, entities, frames, transcript (spoken lines): maximum items, not events. The authors' code has 5, 5, 32 and
    none; here the events are as many as an answer reads at most.
    graph_events: events that the graph view adds over shared entities and relations. floor: every hit's cosine
    similarity is above it. weights: of the views in the fusion. context: weight of an event's neighbours in the event
    view (ports.ViewQuery).
    rewriting: let the reasoner write one query per view, else each view gets the question itself. rerank: number of the
    best events that a reranker puts in order before the tree begins; 0 without one.
    """

    events: int = 16
    entities: int = 5
    frames: int = 32
    transcript: int = 5
    floor: float = 0.1
    graph_events: int = 5
    fusion: Fusion = "contrast"
    weights: Mapping[str, float] = field(default_factory=lambda: dict(WEIGHTS))
    context: float = 0.4
    rewriting: bool = True
    rerank: int = 0


@dataclass(frozen=True, slots=True)
class ViewQueries:
    """Query text of each view: keywords for events, an entity phrase for entities, a scene sentence for frames."""

    events: str
    entities: str
    frames: str

    @classmethod
    def same(cls, text: str) -> ViewQueries:
        return cls(text, text, text)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """ranking: best first. top_similarity: strongest single hit, 0.0 without any."""

    ranking: tuple[RankedEvent, ...]
    top_similarity: float = 0.0


def question_text(question: str, choices: Sequence[str]) -> str:
    """Return the question as a retrieval query; the choices are part of it."""
    return " ".join([question, *choices])


def retrieve(
    graph: KnowledgeGraph,
    queries: ViewQueries,
    settings: RetrievalSettings,
    *,
    text_embedder: TextEmbedder,
    frame_embedder: FrameEmbedder,
    meter: Meter,
) -> Retrieved:
    """Return the events of the three views (and of the graph view, if on), fused. Raises ModelError of an embedder."""
    events_query, entities_query = embed_queries(text_embedder, [queries.events, queries.entities], meter=meter)
    frames_query = frame_embedder.embed_query(queries.frames, meter=meter)
    view_queries: dict[ViewName, ViewQuery] = {
        "event": ViewQuery(events_query, settings.events, settings.context),
        "entity": ViewQuery(entities_query, settings.entities),
        "frame": ViewQuery(frames_query, settings.frames),
        "transcript": ViewQuery(events_query, settings.transcript),
    }
    hits_by_view = graph.search_views(view_queries, floor=settings.floor)
    views: dict[str, Sequence[Hit]] = {name: hits_by_view[name] for name in view_queries}
    top = max((hit.similarity for hits in views.values() for hit in hits), default=0.0)
    ranking = fuse(views, fusion=settings.fusion, weights=settings.weights)
    if settings.graph_events and ranking:
        seeds = [event.event_id for event in ranking[:GRAPH_SEEDS]]
        views["graph"] = graph.events_sharing_entities(seeds, limit=settings.graph_events)
        ranking = fuse(views, fusion=settings.fusion, weights=settings.weights)
    return Retrieved(tuple(ranking), top)
