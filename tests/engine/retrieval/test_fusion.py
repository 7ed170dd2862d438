"""Borda counting and reciprocal ranks over views (AVA, section 5.1)."""

from __future__ import annotations

from uuid import UUID, uuid5

import pytest

from gpu_workers.engine.ports import Hit
from gpu_workers.engine.retrieval.fusion import fuse

E1, E2, E3, E4, E5 = (UUID(int=n) for n in range(1, 6))


def hits(view: str, **similarities: float) -> list[Hit]:
    events = {"e1": E1, "e2": E2, "e3": E3, "e4": E4, "e5": E5}
    return [
        Hit(events[name], similarity, view, uuid5(events[name], view), f"{view}-{name}")
        for name, similarity in similarities.items()
    ]


FIGURE_4 = {
    "frame": hits("frame", e2=0.5, e1=0.3, e5=0.3, e4=0.1),
    "entity": hits("entity", e1=0.7, e2=0.5, e3=0.4, e4=0.4),
    "event": hits("event", e3=0.8, e1=0.6, e4=0.6, e2=0.4),
}


def test_it_reproduces_the_scores_of_figure_4() -> None:
    ranking = fuse(FIGURE_4)

    assert [event.event_id for event in ranking] == [E1, E2, E3, E4, E5]
    # The figure prints 0.85, 0.84, 0.53, 0.53 and 0.25: sums of shares that it has rounded first.
    assert [event.score for event in ranking] == pytest.approx([0.85, 0.8333, 0.5333, 0.5333, 0.25], abs=1e-4)


def test_shares_of_a_view_sum_to_one_so_three_views_sum_to_three() -> None:
    assert sum(event.score for event in fuse(FIGURE_4)) == pytest.approx(3.0)


def test_a_view_weight_scales_its_shares() -> None:
    ranking = fuse(FIGURE_4, weights={"frame": 0.0, "entity": 0.0, "event": 2.0})

    assert ranking[0].event_id == E3
    assert ranking[0].score == pytest.approx(2 * 0.8 / 2.4)


def test_several_frames_of_one_event_add_up() -> None:
    first, second, third = (UUID(int=n) for n in range(11, 14))
    found = [Hit(E1, 0.3, "frame", first), Hit(E1, 0.3, "frame", second), Hit(E2, 0.4, "frame", third)]

    assert [(event.event_id, round(event.score, 3)) for event in fuse({"frame": found})] == [(E1, 0.6), (E2, 0.4)]


def test_an_entity_counts_once_per_event() -> None:
    dog, cat = UUID(int=11), UUID(int=12)
    found = [Hit(E1, 0.5, "entity", dog, "dog"), Hit(E1, 0.5, "entity", dog, "dog"), Hit(E2, 0.6, "entity", cat, "cat")]

    assert fuse({"entity": found})[0].event_id == E2


def test_reciprocal_ranks_use_places_not_similarities() -> None:
    found = {"event": hits("event", e1=0.9, e2=0.1), "frame": hits("frame", e2=0.9, e1=0.89)}

    ranking = fuse(found, fusion="rrf", weights={"frame": 2.0})

    assert ranking[0].event_id == E2
    assert ranking[0].score == pytest.approx(1 / 62 + 2 / 61)
    assert ranking[1].score == pytest.approx(1 / 61 + 2 / 62)


def test_borda_weights_apply_to_each_view_alone() -> None:
    """Shares 0.6 and 0.4 of the event view, 0.25 and 0.75 of the frame view, all of the graph view."""
    found = {
        "event": hits("event", e1=0.3, e2=0.2),
        "frame": hits("frame", e1=0.1, e2=0.3),
        "graph": hits("graph", e3=0.7),
    }

    ranking = fuse(found, weights={"frame": 2.0, "graph": 0.3})

    assert [(event.event_id, round(event.score, 9)) for event in ranking] == [
        (E2, 0.4 + 2 * 0.75),
        (E1, 0.6 + 2 * 0.25),
        (E3, 0.3),
    ]


def test_a_view_with_twice_the_hits_has_no_more_say() -> None:
    """Eq. 2: similarities are divided by their sum in the view, so a crowded view does not outvote another."""
    found = {"event": hits("event", e1=0.2), "frame": hits("frame", e2=0.9, e3=0.9, e4=0.9)}

    assert [(event.event_id, event.score) for event in fuse(found)] == [
        (E1, 1.0),
        (E2, pytest.approx(1 / 3)),
        (E3, pytest.approx(1 / 3)),
        (E4, pytest.approx(1 / 3)),
    ]


def test_equals_share_a_reciprocal_rank() -> None:
    """Ranks 1, 2, 2, 4: an entity is equally similar in all its events."""
    found = {"entity": hits("entity", e3=0.9, e2=0.5, e1=0.5, e4=0.4)}

    assert {event.event_id: event.score for event in fuse(found, fusion="rrf")} == {
        E3: pytest.approx(1 / 61),
        E1: pytest.approx(1 / 62),
        E2: pytest.approx(1 / 62),
        E4: pytest.approx(1 / 64),
    }


def test_a_hit_without_similarity_is_no_hit() -> None:
    for fusion in ("borda", "rrf"):
        assert [event.event_id for event in fuse({"event": hits("event", e1=0.0, e2=-0.4, e3=0.1)}, fusion=fusion)] == [
            E3
        ]


def test_equal_scores_fall_to_the_strongest_hit_and_then_to_the_id() -> None:
    by_hit = fuse({"event": hits("event", e1=0.4), "frame": hits("frame", e2=0.9)})
    by_id = fuse({"event": hits("event", e2=0.4), "frame": hits("frame", e1=0.4)})

    assert [event.event_id for event in by_hit] == [E2, E1]
    assert [event.event_id for event in by_id] == [E1, E2]


def test_every_hit_is_kept_as_a_reason() -> None:
    first = fuse(FIGURE_4)[0]

    assert {hit.words for hit in first.reasons} == {"frame-e1", "entity-e1", "event-e1"}


def test_order_does_not_depend_on_the_order_of_hits() -> None:
    backwards = {view: list(reversed(found)) for view, found in reversed(FIGURE_4.items())}

    assert [event.event_id for event in fuse(backwards)] == [event.event_id for event in fuse(FIGURE_4)]


def test_nothing_found_is_an_empty_ranking() -> None:
    assert fuse({"event": [], "frame": []}) == []
