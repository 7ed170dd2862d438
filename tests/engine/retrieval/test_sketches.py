"""Sketches: what two bits per dimension keep of a vector, and which items a search by them returns."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_workers.engine.retrieval import sketches
from gpu_workers.engine.retrieval.sketches import Block, Context, Rows, Sketches, centre_of, means, scenes, sketch

TIMES = [(0, 1)]


def unit(rows: Rows) -> Rows:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def noise(random: np.random.Generator, count: int, dimension: int) -> Rows:
    return unit(random.standard_normal((count, dimension), dtype=np.float32))


def blocks_of(vectors: Rows, size: int) -> list[Block]:
    blocks = []
    for first in range(0, len(vectors), size):
        part = vectors[first : first + size]
        centre = centre_of(part[:2])
        blocks.append(Block(centre, sketch([b"0" * 16] * len(part), TIMES * len(part), part, centre)))
    return blocks


def test_a_sketch_keeps_signs_large_numbers_and_the_length() -> None:
    """y = (1, -1, 2, -4) has a mean square of 5.5, so only -4 is above 0.98 standard deviations."""
    rest = np.array([[1, -1, 2, -4]], dtype=np.float32)
    centre = np.array([0.5, 0.5, 0.5, 0.5], dtype=np.float32)
    (item,) = sketch([b"0123456789abcdef"], [(10, 20)], rest + centre, centre)
    assert (item["id"].tobytes(), item["start_ms"], item["end_ms"]) == (b"0123456789abcdef", 10, 20)
    assert item["signs"].tolist() == [0b0101]
    assert item["large"].tolist() == [0b1000]
    assert item["sign_scale"] == pytest.approx(22 / 8)
    assert item["scale"] == pytest.approx(22 / (4 * 0.4528 + 4 * 1.51))


def test_a_centre_is_what_vectors_have_in_common_beyond_chance() -> None:
    """Two vectors with the cosine c have a mean of length sqrt((1 + c) / 2), of which sqrt(c) is no chance."""
    one, other = np.array([1, 0], dtype=np.float32), np.array([0.6, 0.8], dtype=np.float32)
    centre = centre_of(np.stack([one, other]))
    assert centre == pytest.approx((one + other) / 2 * 0.6 / 0.8, abs=1e-3)
    assert centre_of(np.eye(2, dtype=np.float32)).tolist() == [0, 0]
    assert centre_of(np.stack([one, -one])).tolist() == [0, 0]
    assert centre_of(one[None]).tolist() == [0, 0]
    same = np.repeat(other[None], 40, axis=0)
    assert centre_of(same) == pytest.approx(other, abs=1e-3)


def test_a_vector_that_is_its_centre_adds_nothing() -> None:
    (item,) = sketch([b"0" * 16], TIMES, np.ones((1, 70), dtype=np.float32), np.ones(70, dtype=np.float32))
    assert (item["scale"], item["sign_scale"]) == (0, 0)
    assert item["signs"].tolist() == [0, 0]


@pytest.mark.parametrize("bits", [3, 8])
def test_a_sum_is_that_of_the_rounded_numbers(bits: int) -> None:
    random = np.random.default_rng(bits)
    flags = random.random((50, 100)) < 0.5
    query = random.standard_normal(100).astype(np.float32)
    words = np.ascontiguousarray(sketches._bits(flags).T)
    rounded = sketches._Rounded(query, bits)
    numbers = sum((1 << bit) * _numbers(plane, 100) for bit, plane in enumerate(rounded.planes))
    standing_for = rounded.lowest + rounded.step * numbers
    assert rounded.sums(words, sketches._count(words, None)) == pytest.approx(flags @ standing_for, abs=1e-4)
    assert rounded.total == pytest.approx(standing_for.sum(), abs=1e-4)
    assert np.mean((standing_for - query) ** 2) < {3: 0.06, 8: 0.0005}[bits]


def _numbers(plane: NDArray[np.uint64], dimension: int) -> NDArray[np.uint8]:
    return np.unpackbits(plane.view(np.uint8), bitorder="little")[:dimension]


def test_a_constant_query_has_exact_sums() -> None:
    words = np.ascontiguousarray(sketches._bits(np.eye(3, 64, dtype=np.bool_)).T)
    for number in (0.25, 0.0, -2.0):
        query = sketches._Rounded(np.full(64, number, dtype=np.float32), 3)
        assert query.sums(words, sketches._count(words, None)) == pytest.approx([number] * 3, abs=1e-6)


def test_a_large_number_widens_the_steps() -> None:
    """It may decide the product, so the steps are those with the least error for this query."""
    query = np.random.default_rng(1).standard_normal(384).astype(np.float32)
    usual = -sketches._Rounded(query, 4).lowest
    assert usual == pytest.approx(2.5, rel=0.1)
    query[7] = 40
    assert -sketches._Rounded(query, 4).lowest > 3 * usual


@pytest.mark.parametrize("dimension", [16, 100, 384])
def test_a_search_that_returns_everything_orders_by_the_estimate(dimension: int) -> None:
    random = np.random.default_rng(dimension)
    vectors = noise(random, 30, dimension)
    found = Sketches(blocks_of(vectors, 7)).nearest(vectors[11], 100)
    assert sorted(found.tolist()) == list(range(30))
    assert found[0] == 11


def test_the_right_item_stands_out_of_many() -> None:
    """One of 20,000 vectors that has a cosine of 0.3 with the query is among the best 64. Nearly all of the 16 nearest
    are among the best 256."""
    random = np.random.default_rng(3)
    vectors = noise(random, 20_000, 384)
    whole = Sketches(blocks_of(vectors, 1_000))
    kept = 0
    for target in random.integers(len(vectors), size=20).tolist():
        query = unit(0.3 * vectors[target : target + 1] + 0.91**0.5 * noise(random, 1, 384))[0]
        found = whole.nearest(query, 256).tolist()
        assert target in found[:64]
        kept += len(set(found) & set(np.argsort(-(vectors @ query))[:16].tolist()))
    assert kept / (16 * 20) > 0.9


def test_only_admitted_items_are_returned() -> None:
    random = np.random.default_rng(4)
    vectors = noise(random, 300, 64)
    admitted = np.zeros(300, dtype=np.bool_)
    admitted[[5, 250]] = True
    whole = Sketches(blocks_of(vectors, 100))
    assert sorted(whole.nearest(vectors[7], 50, admitted).tolist()) == [5, 250]
    assert whole.nearest(vectors[7], 50, np.zeros(300, dtype=np.bool_)).tolist() == []


def test_neighbours_count_within_a_run_alone() -> None:
    estimates = np.array([0.5, 0.1, 0.3, 0.9, 0.2, -np.inf, 0.4], dtype=np.float32)
    found = Context(0.5, np.array([0, 3])).of(estimates)
    # The second run begins with 0.9; -inf is nobody's neighbour, so 0.4 has none and counts for itself.
    wanted = [0.5 + 0.5 * 0.1, 0.1 + 0.5 * 0.5, 0.3 + 0.5 * 0.1, 0.9 + 0.5 * 0.2, 0.2 + 0.5 * 0.9, -np.inf, 1.5 * 0.4]
    assert found.tolist() == pytest.approx([value / 1.5 for value in wanted])


def test_an_item_is_found_for_its_neighbour() -> None:
    """192 of 30,000 items hold 0.95 of the 16 best by own and neighbour's similarity; without context fewer."""
    random = np.random.default_rng(9)
    vectors = noise(random, 30_000, 384)
    whole = Sketches(blocks_of(vectors, 1_000))
    context = Context(0.4, np.arange(0, 30_000, 1_500))
    alone = together = 0
    for target in random.integers(len(vectors), size=20).tolist():
        query = unit(0.6 * vectors[target : target + 1] + 0.8 * noise(random, 1, 384))[0]
        wanted = set(np.argsort(-context.of(vectors @ query))[:16].tolist())
        together += len(wanted & set(whole.nearest(query, 192, context=context).tolist()))
        alone += len(wanted & set(whole.nearest(query, 192).tolist()))
    assert alone < together
    assert together / (16 * 20) > 0.9


def test_the_highest_are_exact_however_they_are_spread() -> None:
    """A sample gives the bound; values in order, and equal values, are the worst samples."""
    for values in (np.arange(100_000), np.arange(100_000)[::-1], np.zeros(100_000), np.arange(100_000) % 16):
        rows = values.astype(np.float32)
        found = sketches._highest(rows, 300)
        assert len(set(found.tolist())) == 300
        assert sorted(rows[found]) == sorted(rows)[-300:]


def test_pictures_of_one_scene_are_sketched_together() -> None:
    """The third picture has a cosine of 0.6 to the first two; the last is like the third."""
    first, third = np.array([1.0, 0.0]), np.array([0.6, 0.8])
    rows = np.array([first, first, third, third], dtype=np.float32)
    assert scenes(rows) == [range(2), range(2, 4)]
    assert means(rows, [range(2), range(1, 3)]) == pytest.approx(
        np.array([[1.0, 0.0], [1.6 / 3.2**0.5, 0.8 / 3.2**0.5]])
    )
    assert means(np.array([[1.0, 0.0], [-1.0, 0.0]], dtype=np.float32), [range(2)]).tolist() == [[0.0, 0.0]]
