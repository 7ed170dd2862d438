from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.foresight import Foresight
from gpu_workers.engine.models.frame_grid import SamplingGrid


@dataclass(frozen=True)
class FakePacket:
    pts: int | None
    dts: int | None


def wanted_times(
    packets: list[FakePacket], span: Span, hold_ms: int | None
) -> tuple[list[FakePacket], set[int | None]]:
    foresight: Foresight[FakePacket] = Foresight(
        span, SamplingGrid(2.0, span.start_ms), hold_ms=hold_ms, origin=0, ms_per_tick=Fraction(1)
    )
    sifted = list(foresight.sift(packets))
    return [packet for packet, _ in sifted], {packet.pts for packet, wanted in sifted if wanted}


def stream(times: list[int], reordered: list[int]) -> list[FakePacket]:
    """Return packets shown at times, decoded in an order that swaps within groups of four, with dts that never pass
    pts."""
    order = []
    for begin in range(0, len(times), 4):
        group = list(range(begin, min(begin + 4, len(times))))
        order += sorted(group, key=lambda i: (reordered[i % len(reordered)], i))
    lowest = [min(times[i] for i in order[k:]) for k in range(len(order))]
    return [FakePacket(times[i], low - 1) for i, low in zip(order, lowest, strict=True)]


@given(
    steps=st.lists(st.integers(20, 5000), min_size=1, max_size=60),
    reordered=st.lists(st.integers(0, 9), min_size=4, max_size=8),
    start=st.integers(0, 20).map(lambda k: k * 3000),
    hold=st.sampled_from([None, 3000]),
)
def test_wanted_is_what_the_grid_chooses_and_what_is_held(
    steps: list[int], reordered: list[int], start: int, hold: int | None
) -> None:
    times = [sum(steps[: k + 1]) for k in range(len(steps))]
    span = Span(start, start + 12_000)
    given_on, wanted = wanted_times(stream(times, reordered), span, hold)
    chosen = set()
    for point in range(0, span.end_ms, 500):
        first = next((ms for ms in times if ms >= point), None)
        if first is not None and span.contains(first):
            chosen.add(first)
    assert chosen <= wanted
    known = [ms for ms in times if ms < span.end_ms]
    held = {
        ms
        for ms, after in zip(known, [*times[1 : len(known)], *times[len(known) : len(known) + 1], None], strict=False)
        if hold is not None and (after is None or after - ms >= hold)
    }
    assert wanted <= chosen | held
    assert set(known) <= {packet.pts for packet in given_on}, "a decoder needs every frame up to the span's end"


def test_packets_without_timestamps_are_all_wanted_and_not_hoarded() -> None:
    packets = [FakePacket(k * 40, None) for k in range(1000)]
    foresight: Foresight[FakePacket] = Foresight(
        Span(0, 60_000), SamplingGrid(2.0, 0), hold_ms=3000, origin=0, ms_per_tick=Fraction(1)
    )
    read = 0

    def reading() -> Iterator[FakePacket]:
        nonlocal read
        for packet in packets:
            read += 1
            yield packet

    first = next(iter(foresight.sift(reading())))
    assert first == (packets[0], True)
    assert read < 300
    assert wanted_times([FakePacket(None, None)] * 3, Span(0, 3000), 3000) == ([FakePacket(None, None)] * 3, {None})


def test_reading_ends_soon_after_the_span() -> None:
    packets = [FakePacket(k * 40, k * 40 - 80) for k in range(10_000)]
    given_on, _ = wanted_times(packets, Span(3000, 6000), 3000)
    assert len(given_on) < 6000 // 40 + 10
