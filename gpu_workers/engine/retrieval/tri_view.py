"""Tri-view retrieval: events, entities and frames that match a question, as one ranked list (AVA, section 5.1).

Speech is a fourth view, and the graph's connections are a fifth; both can be turned off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_workers.engine.ekg import Vector
from gpu_workers.engine.models.roles import FrameEmbedder, Meter, TextEmbedder, embed_queries
from gpu_workers.engine.models.served.structured import object_of, storable
from gpu_workers.engine.ports import Hit, KnowledgeGraph, ViewName, ViewQuery
from gpu_workers.engine.retrieval.fusion import Fusion, RankedEvent, fuse, of_best_events
from gpu_workers.engine.retrieval.repeats import without_repeats
from gpu_workers.engine.retrieval.word_terms import asked_words

GRAPH_SEEDS = 5
"""Number of the best events that the graph view starts from."""

LITERAL_WEIGHT = 2.0
"""Weight of the words where the query names something that is found by its letters: similarity knows no codes."""

WEIGHTS: Mapping[str, float] = {"entity": 0.1, "graph": 0.1, "transcript": 0.5}
"""Weights of the views in a fusion; 1 for a view without one. Hits of entities and the graph fill the list up behind
the events' own hits: with more weight they push the right event off the first rank (docs/lab/evaluation.md)."""


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
    words: events that the view of words adds where the query names something literally (AskedWords.literal);
    always_words: for every query. crowding: ports.ViewQuery's, of the event view. repeats: whether neighbours that
    say the same may both be in the ranking, as in the paper. per_view: number of the best events of each view that are
    fused, K of section 5.1; 0 for all.
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
    words: int = 16
    always_words: bool = False
    crowding: float = 0.0
    repeats: bool = False
    per_view: int = 0


HYBRID = RetrievalSettings(
    events=50,
    entities=0,
    graph_events=0,
    fusion="sum",
    weights={"transcript": 0.5, "words": 0.3},
    context=0.2,
    words=50,
    always_words=True,
    crowding=0.5,
)
"""Search by meaning and by words. The numbers are the best on tapes of one seed (docs/lab/evaluation.md). Entities and
the graph lead to the same descriptions again and cost right first ranks."""

MOST_EXACT = 10_000
"""Maximum number of events that are compared with exact phrases."""

NO_VECTOR: Vector = np.zeros(0, dtype=np.float32)


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
    text: str = "",
    exact: Sequence[str] = (),
) -> Retrieved:
    """Return the events of the three views (and of the graph view and the words, if on), fused.

    text: the words that the view of words searches, by default those of the event view. exact: phrases; if an event
    contains all of them, only such events are returned. Raises ModelError of an embedder.
    """
    events_query, entities_query = embed_queries(text_embedder, [queries.events, queries.entities], meter=meter)
    frames_query = frame_embedder.embed_query(queries.frames, meter=meter)
    view_queries: dict[ViewName, ViewQuery] = {
        "event": ViewQuery(events_query, settings.events, settings.context, crowding=settings.crowding),
        "entity": ViewQuery(entities_query, settings.entities),
        "frame": ViewQuery(frames_query, settings.frames),
        "transcript": ViewQuery(events_query, settings.transcript),
    }
    weights = dict(settings.weights)
    asked = asked_words(text or queries.events, exact)
    if settings.words and (asked.literal or settings.always_words):
        limit = MOST_EXACT if asked.exact else settings.words
        view_queries["words"] = ViewQuery(NO_VECTOR, limit, text=text or queries.events, exact=tuple(exact))
        if asked.literal:
            weights["words"] = LITERAL_WEIGHT
    hits_by_view = graph.search_views(view_queries, floor=settings.floor)
    views: dict[str, Sequence[Hit]] = {name: hits_by_view[name] for name in view_queries}
    containing = {hit.event_id for hit in views["words"]} if "words" in views and asked.exact else set()
    if "words" in views:
        views["words"] = views["words"][: settings.words]
    top = max((hit.similarity for hits in views.values() for hit in hits), default=0.0)
    if settings.per_view:
        views = {name: of_best_events(hits, settings.per_view) for name, hits in views.items()}
    ranking = fuse(views, fusion=settings.fusion, weights=weights)
    if settings.graph_events and ranking:
        seeds = [event.event_id for event in ranking[:GRAPH_SEEDS]]
        views["graph"] = graph.events_sharing_entities(seeds, limit=settings.graph_events)
        ranking = fuse(views, fusion=settings.fusion, weights=weights)
    if containing:
        ranking = [event for event in ranking if event.event_id in containing]
    if not settings.repeats:
        ranking = without_repeats(ranking, graph.load_events([event.event_id for event in ranking]))
    return Retrieved(tuple(ranking), top)


# --- one query per view, written by the reasoner ---------------------------------------------------------------------

_QUERY_FIELDS: Mapping[str, Any] = {name: {"type": "string"} for name in ("keywords", "entity", "scene")}


def rewrite_schema() -> dict[str, Any]:
    return object_of(_QUERY_FIELDS)


def requery_schema(*, per_view: bool) -> dict[str, Any]:
    """Return the JSON schema of a new search. per_view: RQ and its rewriting in one call; else keywords alone."""
    text = {"type": "string"}
    return object_of({"missing": text, "sub_query": text, **_QUERY_FIELDS} if per_view else {"keywords": text})


def read_queries(fields: Mapping[str, Any], *, fallback: str) -> ViewQueries:
    """Return the queries of a reply. A field that is missing, empty or no words (or list of them) becomes fallback."""

    def field(name: str) -> str:
        value = fields.get(name)
        words = value if isinstance(value, list) else [value]
        return storable(" ".join(word for word in words if isinstance(word, str))).strip() or fallback

    return ViewQueries(field("keywords"), field("entity"), field("scene"))
