"""A meter places each call in the time since the meter began."""

from __future__ import annotations

from gpu_workers.engine.answering.budget import BranchMeter
from gpu_workers.engine.models.roles import Meter, ModelCall


class ScriptedClock:
    """Seconds that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_call_begins_where_its_time_began() -> None:
    clock = ScriptedClock()
    meter = Meter(clock=clock)
    clock.now += 2.5
    meter.record(ModelCall("rank", "qwen", 500))
    clock.now += 1
    meter.record(ModelCall("answer", "qwen", 1_500))

    assert [(call.stage, call.start_ms) for call in meter.calls] == [("rank", 2_000), ("answer", 2_000)]


def test_a_branch_places_its_calls_in_the_time_of_the_trunk() -> None:
    clock = ScriptedClock()
    trunk = Meter(clock=clock)
    clock.now += 4
    branch = BranchMeter(trunk)
    clock.now += 1
    branch.record(ModelCall("rank", "qwen", 1_000))

    assert [call.start_ms for call in branch.calls] == [4_000]
    assert [call.start_ms for call in trunk.calls] == [4_000]


def test_a_start_is_never_before_the_meter() -> None:
    clock = ScriptedClock()
    meter = Meter(clock=clock)
    clock.now += 0.1
    meter.record(ModelCall("rank", "qwen", 500))

    assert [call.start_ms for call in meter.calls] == [0]
