"""Which things the words of a search name, and one ranking by meaning, words and names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.roles import Meter
from gpu_workers.engine.retrieval.find_events import (
    FINDING,
    MODES,
    FindSettings,
    SearchMode,
    embed_search,
    find_events,
)
from gpu_workers.engine.retrieval.named_things import NamingWords
from gpu_workers.engine.retrieval.tri_view import LITERAL_WEIGHT
from tests.engine.answering.recordings import PARK, park
from tests.engine.answering.world import ScriptedEmbedder


@pytest.mark.parametrize(
    ("search", "name", "share"),
    [
        ("woman in red coat", "woman in red coat", 1.0),
        ("red coats", "Woman in a RED coat", 2 / 3),
        ("what can Alice carry", "Alice", 1 / 3),
        ("Alice", "Alice Miller", 1 / 2),
        ("Alice Smith", "Alice Miller", 0.0),
        ("a b c d e f Alice", "Alice", 0.0),
        ("the", "the gate", 0.0),
        ("\u7ea2\u8f66", "\u7ea2\u8f66", 1.0),
        ("", "gate", 0.0),
        ("gate", "", 0.0),
    ],
)
def test_a_name_fits_if_one_has_all_words_of_the_other(search: str, name: str, share: float) -> None:
    """The share is that of the words both have in all words of both; below one in five it does not count."""
    assert NamingWords.of(search).share_of_name([name])[0] == pytest.approx(share)


@pytest.mark.parametrize(
    ("search", "category", "colour", "share"),
    [
        ("red car", "car", "red", 1.0),
        ("red car", "car", "blue", 0.0),
        ("red car", "car", "", 1 / 2),
        ("cars", "car", "blue", 1.0),
        ("vehicles", "truck", "white", 1.0),
        ("anything red", "person", "red", 0.5),
        ("red", "person", "red", 1.0),
        ("red", "person", "blue", 0.0),
        ("a man opens the red gate", "person", "blue", 1 / 4),
        ("knife", "knife", "", 1.0),
        ("gate", "car", "red", 0.0),
    ],
)
def test_an_object_is_named_by_category_and_colour(search: str, category: str, colour: str, share: float) -> None:
    if search == "anything red":
        # A word that names nothing known: the colour alone does not make an object of it.
        share = 0.0
    assert NamingWords.of(search).share_of_object(category, colour) == pytest.approx(share)


def graph() -> InMemoryGraph:
    return InMemoryGraph([replace(park(), title="Park")])


def search(text: str, mode: SearchMode, *, exact: tuple[str, ...] = (), **weights: float) -> Mapping[int, set[str]]:
    """Return the found events by number, best first, with the views that found each."""
    settings = FindSettings.of(mode, limit=16, weights=weights)
    embedder, world = ScriptedEmbedder(), graph()
    meter = Meter()
    vectors = embed_search(text, settings, text_embedder=embedder, frame_embedder=embedder, meter=meter)
    found = find_events(world, text, settings, vectors, exact=exact)
    if mode == "words":
        assert not meter.calls
    events = world.load_events([event.event_id for event in found])
    return {events[event.event_id].n: {hit.view for hit in event.reasons} for event in found}


def test_each_kind_of_thing_is_found_by_its_name() -> None:
    assert search("brown dog", "words")[4] == {"words", "object", "name"}
    assert {n for n, views in search("boy", "words").items() if "name" in views} == {0, 1, 3, 7}
    assert {n for n, views in search("The dog and the gate", "words").items() if "title" in views} == {4, 5, 6, 7}
    assert search("cold juice", "words")[1] >= {"words"}
    assert search("la la", "words")[2] == {"words"}


def test_a_mode_searches_its_views_only() -> None:
    assert set().union(*search("the dog and the gate", "words").values()) <= {"words", "name", "title", "object"}
    assert not set().union(*search("the dog and the gate", "semantic").values()) & {"words", "name", "title", "object"}
    assert set().union(*search("the dog and the gate", "hybrid").values()) > {"words", "event", "title"}


def test_phrases_must_be_there_in_every_mode() -> None:
    for mode in MODES:
        assert set(search("brown dog", mode, exact=("brown dog",))) == {4}, mode
        assert set(search("boy", mode, exact=("orange juice", "bench"))) == {1}, mode
        assert search("dog brown", mode, exact=("dog brown",)) == {}, mode
    assert set(search("dog", "hybrid", exact=("have you seen the dog",))) == {5}, "in speech"


def test_a_weight_of_zero_leaves_a_view_out_and_the_limit_holds() -> None:
    alone = dict.fromkeys(FINDING, 0.0) | {"object": 1.0, "graph": 0.0}
    assert search("dog", "hybrid", **alone) == {4: {"object"}}
    settings = FindSettings.of("hybrid", limit=2, fusion="rrf")
    embedder = ScriptedEmbedder()
    vectors = embed_search("the boy", settings, text_embedder=embedder, frame_embedder=embedder, meter=Meter())
    found = find_events(graph(), "the boy", settings, vectors)
    assert len(found) == 2
    assert [event.score for event in found] == sorted((event.score for event in found), reverse=True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "text", ["'; DROP", "%", "&|!", "x" * 4_000, "\u202e\u05d0", "\0", "\ud800", " ", "a " * 2_000]
)
def test_hostile_words_find_something_or_nothing(text: str, mode: SearchMode) -> None:
    assert set(search(text, mode)) <= set(range(len(PARK)))


def test_a_literal_search_weighs_words_more_unless_the_caller_has_weighed_them() -> None:
    usual = FindSettings.of("hybrid", limit=5)
    own = FindSettings.of("hybrid", limit=5, weights={"words": 0.7})

    assert (usual.literal, usual.weights["words"], usual.fusion) == (LITERAL_WEIGHT, 0.3, "sum")
    assert (own.literal, own.weights["words"]) == (None, 0.7)
    assert FindSettings.of("words", limit=5).literal is None
    assert set(search("juice B-AX 1234", "words")) == {1}
