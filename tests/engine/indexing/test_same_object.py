"""The published score and grouping of tracks by CLIP and DINOv2, by hand."""

from __future__ import annotations

import pytest

from gpu_workers.engine.indexing.same_object import group_tracks, same_object_score


@pytest.mark.parametrize(
    ("clip", "dino", "score"),
    [(0.925, 0.5, 0.5), (1.0, 1.0, 0.8757), (0.98, 0.62, 0.6400), (0.93, 0.75, 0.7043)],
)
def test_score(clip: float, dino: float, score: float) -> None:
    assert same_object_score(clip, dino) == pytest.approx(score, abs=5e-5)


def test_score_of_the_released_code_takes_dino_as_it_is() -> None:
    assert same_object_score(0.93, 0.75, raw_dino=True) == pytest.approx(0.7162, abs=5e-5)


def scores(**pairs: float) -> dict[tuple[int, int], float]:
    return {(ord(pair[0]) - 97, ord(pair[1]) - 97): score for pair, score in pairs.items()}


def grouped(pairs: dict[tuple[int, int], float], frames: list[set[int]]) -> list[list[int]]:
    return group_tracks(frames, lambda a, b: pairs[min(a, b), max(a, b)])


def test_tracks_that_share_a_frame_never_join() -> None:
    pair = scores(ab=0.87)
    assert grouped(pair, [{1, 2, 3}, {3, 4}]) == [[0], [1]]
    assert grouped(pair, [{1, 2, 3}, {4, 5}]) == [[0, 1]]


def test_nor_do_they_through_a_third_track() -> None:
    every = scores(ab=0.7, ac=0.7, bc=0.7)
    assert grouped(every, [{1}, {5}, {1, 9}]) == [[0, 1], [2]]


def test_a_track_must_fit_every_member() -> None:
    assert grouped(scores(ab=0.65, bc=0.65, ac=0.49), [{1}, {2}, {3}]) == [[0, 1], [2]]
    assert grouped(scores(ab=0.65, bc=0.65, ac=0.50), [{1}, {2}, {3}]) == [[0, 1, 2]]


def test_a_track_must_fit_one_member_well() -> None:
    assert grouped(scores(ab=0.61), [{1}, {2}]) == [[0], [1]]
    assert grouped(scores(ab=0.62), [{1}, {2}]) == [[0, 1]]


def test_a_track_joins_the_group_that_it_is_most_like() -> None:
    pairs = scores(ab=0.1, ac=0.63, bc=0.8)
    assert grouped(pairs, [{1}, {2}, {3}]) == [[0], [1, 2]]
