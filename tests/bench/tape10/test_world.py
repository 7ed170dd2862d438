"""The tape: the same for the same seed, and consistent with itself."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from bench.evaluation.tape10.codes import distance
from bench.evaluation.tape10.scenes import NAMES, scene
from bench.evaluation.tape10.world import TAPE_MS, ZONE, World, make_world, separate_times
from gpu_workers.engine.ekg import CHUNK_MS

SEEDS = (0, 1, 100)


@pytest.fixture(scope="module", params=SEEDS)
def world(request: pytest.FixtureRequest) -> World:
    return make_world(request.param)


def test_the_same_seed_makes_the_same_tape_and_another_seed_another_one() -> None:
    first, again, other = (make_world(seed, total_ms=30 * 60_000) for seed in (1, 1, 11))
    assert again == first
    assert other.moments != first.moments


def test_ten_hours_are_covered_by_thousands_of_events_without_a_gap(world: World) -> None:
    assert world.span.end_ms == TAPE_MS == 36_000_000
    assert len(world.moments) >= 3_000
    assert [moment.n for moment in world.moments] == list(range(len(world.moments)))
    assert world.moments[0].span.start_ms == 0
    assert world.moments[-1].span.end_ms == TAPE_MS
    for before, after in pairwise(world.moments):
        assert before.span.end_ms == after.span.start_ms
    assert all(moment.span.start_ms % CHUNK_MS == 0 for moment in world.moments)


def test_topics_are_made_of_whole_events_and_each_is_on_the_tape_once(world: World) -> None:
    assert len(world.parts) == 50
    assert len({part.title for part in world.parts}) == 50
    for part in world.parts:
        members = world.moments[part.first : part.end]
        assert members[0].span.start_ms == part.span.start_ms
        assert members[-1].span.end_ms == part.span.end_ms
        assert {moment.scene for moment in members} == {part.scene}


def test_the_night_holds_the_change_of_the_clocks_and_there_are_gaps_between_recordings(world: World) -> None:
    night = world.recording("wildlife")
    zone = ZoneInfo(ZONE)
    offsets = {night.local(ms).utcoffset() for ms in (night.span.start_ms, night.span.end_ms - 1_000)}
    assert offsets == {timedelta(hours=1), timedelta(hours=2)}
    for before, after in pairwise(world.recordings):
        ends_at = before.begins_at + timedelta(milliseconds=before.span.duration_ms)
        assert after.begins_at.astimezone(zone) - ends_at.astimezone(zone) > timedelta(minutes=30)


def test_a_happening_begins_as_often_as_its_events_are_many(world: World) -> None:
    for name in NAMES:
        for happening in scene(name).happenings:
            held = [moment for moment in world.moments if moment.happening == happening.name]
            assert 3 <= len(held) <= 11
            assert separate_times(world.moments, happening.name) == len(held)
            assert all(moment.scene == name for moment in held)


def test_things_are_seen_in_the_events_that_name_them(world: World) -> None:
    for thing in world.things:
        for span in thing.spans:
            moment = world.at(span.start_ms)
            assert moment.span.holds(span)
            assert thing.colour in moment.text
            assert thing.category in moment.text.lower()
        assert list(thing.spans) == sorted(thing.spans)
        assert all(before.end_ms <= after.start_ms for before, after in pairwise(thing.spans))


def test_every_written_code_is_unique_and_decoys_differ_from_one_in_a_character(world: World) -> None:
    written = [item for moment in world.moments for item in moment.writing]
    codes = [item.code for item in written]
    assert len(codes) == len(set(codes)) >= 200
    true = {item.code for item in written if not item.decoy}
    decoys = {item.code for item in written if item.decoy}
    assert len(decoys) >= 40
    for decoy in decoys:
        assert any(distance(decoy, code) == 1 for code in {*true, *decoys} - {decoy})
    assert sum(item.code not in item.shown for item in written) >= 20, "some are misread"
    assert all(item.code in item.shown for item in written if item.decoy)


def test_a_small_tape_has_all_that_a_large_one_has() -> None:
    small = make_world(3, total_ms=30 * 60_000)

    assert small.span.end_ms == 30 * 60_000
    assert {recording.scene for recording in small.recordings} == set(NAMES)
    assert small.things
    assert any(moment.lines for moment in small.moments)
    assert any(moment.writing for moment in small.moments)
    assert any(moment.happening for moment in small.moments)
