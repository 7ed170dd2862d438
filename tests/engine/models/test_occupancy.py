"""A server's time is shared between the calls that overlap on it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from bench.model_server import ModelServer, Rates
from gpu_workers.engine.models.occupancy import Occupancy, Share
from gpu_workers.engine.models.roles import ChatCapabilities, Message, Meter
from gpu_workers.engine.models.served.chat import OpenAIChatModel


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def question_at_load(others: int, *, calls: int = 40, call_s: float = 0.5) -> list[int]:
    """Return what each of 1 + others questions is attributed on a server that works on one call at a time.

    The questions ask their calls one after another. The server takes calls in the order in which they came.
    """
    clock = Clock()
    occupancy = Occupancy(clock=clock)
    left, total = [calls] * (others + 1), [0] * (others + 1)
    queue: list[tuple[int, Share, ExitStack]] = []

    def ask(question: int) -> None:
        share, entered = Share(), ExitStack()
        entered.enter_context(occupancy.call(share))
        queue.append((question, share, entered))

    for question in range(others + 1):
        ask(question)
    while queue:
        clock.now += call_s
        question, share, entered = queue.pop(0)
        left[question] -= 1
        if left[question]:
            ask(question)  # the next call is there before the server looks for work
        entered.close()
        total[question] += share.ms
    return total


def test_the_same_question_costs_the_same_alone_and_among_sixteen() -> None:
    (alone,) = question_at_load(0)
    crowded = question_at_load(15)
    assert alone == pytest.approx(20_000, rel=0.05)
    assert all(cost == pytest.approx(alone, rel=0.1) for cost in crowded), crowded


def test_the_shares_add_up_to_the_busy_time() -> None:
    clock = Clock()
    occupancy = Occupancy(clock=clock)
    first, second, third = Share(), Share(), Share()
    with occupancy.call(first):
        clock.now = 1.0
        with occupancy.call(second):
            clock.now = 3.0
        clock.now = 4.0
    clock.now = 10.0
    with occupancy.call(third):
        clock.now = 10.5
    assert (first.ms, second.ms, third.ms) == (3_000, 1_000, 500)


def test_a_failed_call_counts_until_it_failed() -> None:
    clock = Clock()
    occupancy = Occupancy(clock=clock)
    share = Share()

    def fail() -> None:
        with occupancy.call(share):
            clock.now = 2.0
            raise ConnectionError

    with pytest.raises(ConnectionError):
        fail()
    assert share.ms == 2_000


def test_four_tenants_in_parallel_are_attributed_no_more_than_the_server_worked() -> None:
    with ModelServer(Rates(latency_s=0.05), slots=4) as server:
        model = OpenAIChatModel(
            base_url=server.url, model="scripted", api_key="none", capabilities=ChatCapabilities(context_tokens=8_192)
        )
        meters = [Meter() for _ in range(4)]

        def ask(meter: Meter) -> None:
            for number in range(6):
                model.sample([Message("user", (f"Question {number}?",))], stage="answer", meter=meter, max_tokens=8)

        began = time.monotonic()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(ask, meters))
        worked_ms = (time.monotonic() - began) * 1000
    calls = [call for meter in meters for call in meter.calls]
    assert len(calls) == 24
    # Each share is rounded to a millisecond.
    assert sum(call.billed_ms for call in calls) <= worked_ms + len(calls) / 2
    assert sum(call.wall_ms for call in calls) > worked_ms
