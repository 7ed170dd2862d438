"""Tracked objects by free text: by their pictures where words and pictures share a space, else by words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Crop, Span, TrackObservation, Vector
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.roles import Meter
from gpu_workers.engine.ports import NearObject
from gpu_workers.engine.retrieval.object_search import RankedObjects, nearest_objects, rank_objects
from gpu_workers.engine.retrieval.stretches import stretches_of
from tests.engine.answering.recordings import graph_of, park
from tests.engine.answering.toolboxes import tracked
from tests.engine.answering.world import ScriptedEmbedder, event_id

AXES = {"a man with a blue backpack": (1.0, 0.0), "a woman in a hat": (0.0, 1.0)}


class ScriptedPictures:
    """Words and pictures in one space of two axes."""

    name, dimension, open_vocabulary = "pictures", 2, True

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        return np.array(AXES[text], dtype=np.float32)

    def embed_frames(self, pictures: Sequence[Any], *, meter: Meter) -> NDArray[np.float32]:
        raise NotImplementedError


class ScriptedLabels(ScriptedPictures):
    """A frame embedder that knows only its labels: its vectors of words are never asked for."""

    open_vocabulary = False

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        raise AssertionError(text)


def seen(span: Span, *crop: float, ms: int) -> TrackObservation:
    return TrackObservation(1, "person", span, 0.9, crop=Crop(ms, np.array(crop, dtype=np.float32)))


def street(**more: Any) -> InMemoryGraph:
    """Return three people: the first with a backpack at 7.5 s, the second with one and a hat, the third unseen."""
    people = [
        tracked(0, spans=[Span(0, 3_000), Span(6_000, 9_000)]),
        tracked(1, spans=[Span(3_000, 5_000)]),
        tracked(2, spans=[Span(9_000, 12_000)]),
    ]
    tracks = {
        people[0].id: [
            seen(Span(0, 3_000), 0.0, 1.0, ms=1_000),
            seen(Span(6_000, 9_000), 1.0, 0.0, ms=7_500),
        ],
        people[1].id: [seen(Span(3_000, 5_000), 0.8, 0.6, ms=4_000)],
        people[2].id: [replace(seen(Span(9_000, 12_000), 1.0, 0.0, ms=9_500), crop=None)],
    }
    return graph_of(replace(park(objects=False), objects=people, tracks=tracks), **more)


def ranked(graph: Any, text: str, *, limit: int = 10, frames: Any = None) -> RankedObjects:
    return rank_objects(
        graph,
        text,
        limit=limit,
        text_embedder=ScriptedEmbedder(),
        frame_embedder=frames or ScriptedPictures(),
        meter=Meter(),
    )


def order(found: RankedObjects) -> list[tuple[int, float, int, Span]]:
    return [(one.thing.n, round(one.similarity, 4), one.ms, one.span) for one in found.objects]


def test_an_object_counts_by_the_picture_that_is_nearest_to_the_words() -> None:
    found = ranked(street(), "a man with a blue backpack")
    assert found.compared_by == "pictures"
    assert order(found) == [(0, 1.0, 7_500, Span(6_000, 9_000)), (1, 0.8, 4_000, Span(3_000, 5_000))]
    assert order(ranked(street(), "a woman in a hat")) == [
        (0, 1.0, 1_000, Span(0, 3_000)), (1, 0.6, 4_000, Span(3_000, 5_000)),
    ]  # fmt: skip
    assert [n for n, *_ in order(ranked(street(), "a woman in a hat", limit=1))] == [0]


def test_pictures_outside_the_scope_are_not_compared() -> None:
    early = street(span=Span(0, 6_500))
    assert order(ranked(early, "a man with a blue backpack")) == [
        (1, 0.8, 4_000, Span(3_000, 5_000)), (0, 0.0, 1_000, Span(0, 3_000)),
    ]  # fmt: skip


def test_several_stretches_are_compared_as_one_scope() -> None:
    whole = street()
    video = next(iter(whole.recordings()))
    parts = stretches_of(whole, {video: (Span(0, 5_000), Span(7_000, 9_000))})
    assert order(ranked(parts, "a man with a blue backpack")) == [
        (0, 1.0, 7_500, Span(7_000, 9_000)), (1, 0.8, 4_000, Span(3_000, 5_000)),
    ]  # fmt: skip


def test_the_first_of_equal_pictures_of_one_object_counts_and_ties_fall_to_the_id() -> None:
    one, other = sorted(thing.id for thing in street().objects(limit=2))
    near = [NearObject(other, 900, 0.5), NearObject(one, 700, 0.5), NearObject(one, 200, 0.5), NearObject(one, 0, 0.1)]
    assert nearest_objects(near, limit=9) == [NearObject(one, 200, 0.5), NearObject(other, 900, 0.5)]
    assert nearest_objects(near, limit=0) == []


def test_without_an_open_vocabulary_name_and_events_are_compared_with_the_words() -> None:
    """The park's events share words with the query: two of "a dog runs" in event 4, none in the name "brown dog" but
    "dog". Vectors are bags of words, so each cosine is shared words over the root of both numbers."""
    scene = graph_of(park())
    found = ranked(scene, "dog runs", frames=ScriptedLabels())
    assert found.compared_by == "words"
    # Event 4 is "a brown dog runs after the ball": 2 of 7 words; the name "brown dog" shares 1 of 2.
    expected = (1 / (2 * 2) ** 0.5 + 2 / (2 * 7) ** 0.5) / 2
    first, second = found.objects
    assert first.thing.category == "dog"
    assert first.similarity == pytest.approx(expected, rel=1e-5)
    assert (first.ms, first.span) == (13_500, Span(12_000, 15_000))
    assert (second.thing.category, second.similarity) == ("person", 0.0)
    assert scene.events_between(first.thing.video_id, first.span, limit=1)[0].event_id == event_id(4)


def test_objects_without_a_picture_are_compared_by_words() -> None:
    """An index that another frame embedder made has no pictures in this one's space."""
    assert ranked(graph_of(park()), "a woman in a hat").compared_by == "words"


def test_a_scope_without_objects_finds_none() -> None:
    assert ranked(graph_of(park(objects=False)), "a woman in a hat").objects == ()
