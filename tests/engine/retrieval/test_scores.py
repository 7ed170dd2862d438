"""Scores are chances: of real embedders over real descriptions, and what the curves make of similarities."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_workers.engine.ekg import Chunk, Event, EventRecord, Span, TranscriptLine, stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.bindings import text_embedder
from gpu_workers.engine.models.roles import Meter, TextEmbedder
from gpu_workers.engine.models.settings import E5, ModelSettings
from gpu_workers.engine.ports import Hit, SearchedGraph
from gpu_workers.engine.retrieval.find_events import FindSettings, embed_search, find_events
from gpu_workers.engine.retrieval.highlights import Highlighter
from gpu_workers.engine.retrieval.scored_search import (
    ScoredEvent,
    inner_moments,
    is_quotation,
    score_events,
    scoring_of,
)
from gpu_workers.engine.retrieval.scores import DEFAULT_MIN_SCORE, KINDS, Scoring, curves, evidence
from gpu_workers.engine.retrieval.words import quoted

MINILM, FRAMES = "all-MiniLM-L6-v2", "conse-all-MiniLM-L6-v2"
VIDEO = stable_id("video", "bottles")
TOLD = (
    "From 00:00 to 00:24: two bottles in view. A bottle stays in place, then moves up from 00:06. A bottle is standing "
    "still. The picture resembles a water bottle.",
    "From 00:24 to 00:33: one bottle in view. A bottle is standing still. The picture resembles a water bottle.",
    "No person, animal or vehicle is detected.",
)
LINES = ("Ask not what your country can do for you.", "Ask what you can do for your country.", "Thank you, Margaret.")
NONSENSE = (
    "purple elephant dancing on the moon",
    "interest rates of the central bank",
    "xqzzt vlorp",
    "🦄🦄",
    "?!…",
    "the the of",
    "紫色的大象在月球上跳舞",
)


@cache
def embedder(multilingual: bool = False) -> TextEmbedder:
    return text_embedder(ModelSettings.from_env({"TEXT_EMBEDDER_MODEL": E5} if multilingual else {}))


@cache
def bottles(multilingual: bool = False) -> InMemoryGraph:
    """A recording of bottles as the observer describes it, and at its end somebody who speaks."""
    told = [*TOLD, f"One person is in view. Speech: {' '.join(LINES)}"]
    vectors = embedder(multilingual).embed([*told, *LINES], meter=Meter())
    spoken = tuple(
        TranscriptLine(Span(9_000 + 1_000 * n, 10_000 + 1_000 * n), line, embedding=vectors[len(told) + n])
        for n, line in enumerate(LINES)
    )
    chunks = [
        Chunk(n, Span(3_000 * n, 3_000 * n + 3_000), text, transcript=spoken if n == 3 else (), facts={"objects": []})
        for n, text in enumerate(told)
    ]
    events = [
        EventRecord(Event(stable_id("event", VIDEO, n), n, chunks[n].span, n, n + 1, text, vectors[n]), (), (), ())
        for n, text in enumerate(told)
    ]
    return InMemoryGraph([MemoryVideo(VIDEO, events, chunks)])


def searched(query: str, *, multilingual: bool = False) -> tuple[list[ScoredEvent], Scoring]:
    """Return the events that a search without frames finds, the best first."""
    graph: SearchedGraph = bottles(multilingual)
    text, exact = quoted(query)
    model = embedder(multilingual)
    settings = FindSettings.of("hybrid", limit=16, weights={"frame": 0.0})
    vectors = embed_search(text, settings, text_embedder=model, frame_embedder=None, meter=Meter())  # type: ignore[arg-type]
    ranking = find_events(graph, text, settings, vectors, exact=exact)
    events = graph.load_events([event.event_id for event in ranking])
    scoring = scoring_of(text, settings, text_embedder=model.name, frame_embedder=FRAMES, minutes=0.2)
    assert scoring.calibrated
    scored = score_events(graph, ranking, events, vectors, scoring, quotes_alone=is_quotation(text, exact))
    return sorted(scored, key=lambda event: -event.score), scoring


def best(query: str, *, multilingual: bool = False) -> float:
    return max((event.score for event in searched(query, multilingual=multilingual)[0]), default=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("query", NONSENSE)
def test_what_is_not_there_scores_below_the_usual_minimum(query: str) -> None:
    assert best(query) < DEFAULT_MIN_SCORE
    assert best(query, multilingual=True) < DEFAULT_MIN_SCORE


@pytest.mark.slow
def test_long_queries_find_what_they_describe_and_nothing_else() -> None:
    assert best("The parties settle any dispute under this contract by arbitration. " * 45) < DEFAULT_MIN_SCORE
    assert best("purple elephant dancing on the moon " * 80) < DEFAULT_MIN_SCORE
    wanted = "Ich suche eine Flasche auf dem Tisch. " * 60
    assert best(wanted, multilingual=True) >= DEFAULT_MIN_SCORE


@pytest.mark.slow
def test_another_thing_scores_far_below_the_thing_that_is_there() -> None:
    for other in ("a dog", "a train", "a wedding"):
        assert best(other) < best("a bottle") - 0.2
        assert best(other) < DEFAULT_MIN_SCORE + 0.2
    for query in ("bottle", "a bottle", "somebody lifts a bottle"):
        assert best(query) > 0.9, query


@pytest.mark.slow
@pytest.mark.parametrize("query", ["eine Flasche", "eine Wasserflasche steht still", "una botella", "agua en botella"])
def test_a_multilingual_embedder_finds_in_german_and_spanish(query: str) -> None:
    assert best(query, multilingual=True) > best("ein Flugzeug landet", multilingual=True)
    assert best(query, multilingual=True) >= DEFAULT_MIN_SCORE


@pytest.mark.slow
def test_what_is_said_is_found_by_its_meaning_by_a_name_and_by_a_quotation() -> None:
    for query in ("what can you do for your country?", "Margaret", '"can do for your country"', '"Thank you"'):
        scored, scoring = searched(query)
        first = scored[0]
        assert first.score > 0.7, query
        event = bottles().load_events([first.ranked.event_id])[first.ranked.event_id]
        assert event.n == 3, query
        shown = Highlighter(*quoted(query)).event(event, first.ranked.reasons)
        inside = inner_moments(event, first, shown, scoring, min_score=DEFAULT_MIN_SCORE)
        assert inside, query
        assert {moment.view for moment in inside} == {"speech"}
        assert all(moment.text in LINES and event.span.holds(moment.span) for moment in inside)
    assert searched('"purple elephant"')[0] == []
    assert [event.score for event in searched('"can do for your country"')[0]] == [1.0]


def test_a_quotation_is_a_query_of_quotations_alone() -> None:
    assert is_quotation(*quoted('"good morning" "my dear"'))
    assert not is_quotation(*quoted('a man says "good morning"'))
    assert not is_quotation(*quoted("good morning"))


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.floats(-1, 1)), max_size=9), st.floats(0, 1e5))
def test_a_score_is_a_chance_that_more_evidence_of_a_kind_never_lowers(
    found: Sequence[tuple[str, float]], minutes: float
) -> None:
    scoring = Scoring.of(KINDS, text_embedder=MINILM, frame_embedder=FRAMES, minutes=minutes)
    score = scoring.score(found)  # type: ignore[arg-type]
    assert scoring.calibrated
    assert 0.0 <= score <= 1.0
    higher = [(kind, min(1.0, value + 0.1)) for kind, value in found]
    assert scoring.score(higher) >= score  # type: ignore[arg-type]


def test_a_longer_scope_makes_the_same_similarity_say_less() -> None:
    scores = [
        Scoring.of(["description"], text_embedder=MINILM, frame_embedder=FRAMES, minutes=minutes).score(
            [("description", 0.5)]
        )
        for minutes in (0.1, 2, 60, 600, 60_000)
    ]
    assert scores[0] == scores[1]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] < scores[1]


def test_one_kind_without_a_curve_makes_similarities_of_all_scores() -> None:
    unknown = Scoring.of(["description", "frame"], text_embedder=MINILM, frame_embedder="nobody's", minutes=1)
    assert not unknown.calibrated
    assert unknown.min_score == 0.0
    assert unknown.score([("description", 0.4), ("frame", 0.07)]) == 0.4
    assert unknown.score([("description", -0.4)]) == 0.0
    known = Scoring.of(["description"], text_embedder=MINILM, frame_embedder="nobody's", minutes=1)
    assert (known.calibrated, known.min_score) == (True, DEFAULT_MIN_SCORE)


def test_pictures_have_no_say_in_a_language_that_their_embedder_does_not_know() -> None:
    kinds = ("measurement", "frame")

    def compared(text_model: str, text: str) -> set[str]:
        return set(Scoring.of(kinds, text_embedder=text_model, frame_embedder=FRAMES, minutes=1, text=text).kinds)

    assert compared(E5, "jemand öffnet den Kühlschrank") == {"measurement"}
    assert compared(E5, "somebody opens the fridge") == {"measurement", "frame"}
    assert compared(MINILM, "jemand öffnet den Kühlschrank") == {"measurement", "frame"}, "nothing else is left"


def test_similarities_that_depend_on_the_scope_are_no_evidence() -> None:
    event_id = stable_id("event", VIDEO, 0)
    hits = [Hit(event_id, 0.9, view) for view in ("event", "frame", "transcript", "topic", "graph", "words", "object")]
    assert list(evidence(None, hits, measured=False)) == [("words", 0.9), ("name", 0.9)]


def test_every_curve_rises_and_says_where_it_comes_from() -> None:
    assert curves()
    assert all(curve.slope > 0 and curve.growth >= 0 for curve in curves().values())
    for text_model in (MINILM, E5):
        assert Scoring.of(KINDS, text_embedder=text_model, frame_embedder=FRAMES, minutes=1).calibrated
