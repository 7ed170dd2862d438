"""The three views, and the fourth that follows the graph's edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_workers.engine.answering.presets import settings_for
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import Meter
from gpu_workers.engine.retrieval.tri_view import RetrievalSettings, Retrieved, ViewQueries, read_queries, retrieve
from tests.engine.answering.world import STREET, ScriptedEmbedder, embed, event_id, street


def find(queries: ViewQueries, settings: RetrievalSettings | None = None, **world: object) -> Retrieved:
    embedder = ScriptedEmbedder()
    return retrieve(
        street(**world),
        queries,
        settings or RetrievalSettings(graph_events=0),
        text_embedder=embedder,
        frame_embedder=embedder,
        meter=Meter(),
    )


def test_each_view_gets_its_own_query() -> None:
    found = find(
        ViewQueries(events="dog runs", entities="cyclist", frames="white van parks"), entities={"cyclist": [6]}
    )

    views = {event.event_id: {hit.view for hit in event.reasons} for event in found.ranking}
    assert views[event_id(4)] == {"event"}
    assert views[event_id(6)] == {"entity"}
    assert views[event_id(7)] == {"frame"}


def test_search_texts_are_embedded_in_the_form_that_the_model_expects_of_them() -> None:
    asked: list[str] = []

    class WithPrefix(ScriptedEmbedder):
        def embed_queries(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
            asked.extend(texts)
            return self.embed(texts, meter=meter)

    retrieve(
        street(),
        ViewQueries(events="dog runs", entities="cyclist", frames="white van parks"),
        RetrievalSettings(graph_events=0),
        text_embedder=WithPrefix(),
        frame_embedder=ScriptedEmbedder(),
        meter=Meter(),
    )

    assert asked == ["dog runs", "cyclist"]


def test_it_asks_for_what_an_answer_can_read_and_the_paper_for_its_top_four_of_each_view() -> None:
    ours, paper = RetrievalSettings(), settings_for("paper", UNMEASURED).retrieval

    assert (ours.events, ours.entities, ours.frames, ours.floor) == (16, 5, 32, 0.1)
    assert (paper.events, paper.entities, paper.frames, paper.floor, paper.per_view) == (4, 5, 32, 0.1, 4)
    assert (paper.context, paper.fusion, dict(paper.weights), paper.transcript, paper.graph_events) == (
        0.0, "borda", {}, 0, 0,
    )  # fmt: skip


def test_the_graph_view_adds_events_that_share_an_entity_with_those_found() -> None:
    queries = ViewQueries.same("dog runs")
    entities = {"the owner": [4, 5]}

    without = find(queries, RetrievalSettings(graph_events=0, context=0.0), entities=entities)
    found = find(queries, RetrievalSettings(graph_events=5, context=0.0), entities=entities)

    assert event_id(5) not in {event.event_id for event in without.ranking}
    added = next(event for event in found.ranking if event.event_id == event_id(5))
    assert [hit.view for hit in added.reasons] == ["graph"]
    assert found.ranking[0].event_id == event_id(4)


def test_events_next_to_what_was_asked_for_are_found_with_it_unless_the_paper_is_followed() -> None:
    """Event 5 shares no word with the query; its neighbour does."""

    def hits(settings: RetrievalSettings) -> dict[UUID, float]:
        found = find(ViewQueries.same("dog runs"), replace(settings, graph_events=0))
        return {e.event_id: h.similarity for e in found.ranking for h in e.reasons if h.view == "event"}

    ours, paper = (settings_for(effort, UNMEASURED).retrieval for effort in ("medium", "paper"))
    own = float(embed("dog runs") @ embed(STREET[4]))

    assert (ours.context, paper.context) == (0.4, 0.0)
    assert hits(paper) == pytest.approx({event_id(4): own})
    assert hits(ours) == pytest.approx({event_id(4): own / 1.4, **{event_id(n): 0.4 * own / 1.4 for n in (3, 5)}})


def test_what_is_said_is_a_view_of_its_own() -> None:
    """Speech alone mentions the parcel."""
    speech = {6: "the parcel is behind the counter"}

    found = find(ViewQueries.same("where is the parcel"), speech=speech)
    silent = find(ViewQueries.same("parcel counter"), RetrievalSettings(graph_events=0, transcript=0), speech=speech)

    assert found.ranking[0].event_id == event_id(6)
    assert "transcript" in {hit.view for hit in found.ranking[0].reasons}
    assert event_id(6) not in {event.event_id for event in silent.ranking}


def test_the_paper_has_three_views() -> None:
    settings = settings_for("paper", UNMEASURED).retrieval

    assert (settings.transcript, settings.graph_events) == (0, 0)


def test_the_strongest_hit_is_reported() -> None:
    assert find(ViewQueries.same("a dog runs across the street")).top_similarity > 0.99


def test_an_unknown_topic_finds_nothing() -> None:
    assert find(ViewQueries.same("xylophone")).ranking == ()


def test_missing_fields_of_a_rewrite_fall_back_to_the_question() -> None:
    queries = read_queries({"keywords": ["red", "car"], "entity": "", "scene": None}, fallback="which car?")

    assert queries == ViewQueries("red car", "which car?", "which car?")
