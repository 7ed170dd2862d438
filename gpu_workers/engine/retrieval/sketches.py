"""Sketches of vectors: two bits per dimension, by which the best of many vectors are found without reading them.

A vector x is its block's centre c plus a rest y. The sketch keeps the sign of each y_i, and whether |y_i| is large.
With r_i the number that these two bits stand for, q.x is about q.c + scale * q.r, where scale = |y|^2 / y.r makes the
estimate right on average over rotations (Gao and Long, RaBitQ, SIGMOD 2024). A search first estimates all items by
their signs and the query in QUERY_BITS bits, by counting bits, and then the best of them by both bits and the query in
FINE_BITS bits. The caller ranks the result by the vectors themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Vector

QUERY_BITS, FINE_BITS = 3, 4
RANGES = np.linspace(0.2, 1, 17, dtype=np.float32)
"""Ranges of a rounded query that are tried, as parts of its largest number. With the best range 3 bits find as much as
4 bits over the whole range."""
FINE, FINE_SHARE, FINE_IN_CONTEXT = 4_096, 16, 8
"""Items of the first estimate that are estimated again: this many, or one in FINE_SHARE of all, or one in
FINE_IN_CONTEXT where neighbours count, because then two errors add up."""
LARGE, SMALL_LEVEL, LARGE_LEVEL = 0.98, 0.4528, 1.51
"""The best two-bit quantizer of normal numbers: a number is large above LARGE standard deviations, and the levels are
the means of both kinds (Max, 1960)."""
SAME_SCENE = 0.9
"""Minimum cosine of a picture with the mean of the pictures before it that it is sketched together with."""
_SAMPLED = 16
_PART = 32_768
Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Block:
    """Sketches with one centre. centre: shape (d,). items: n rows of item_type(d)."""

    centre: Rows
    items: NDArray[np.void]


@dataclass(frozen=True, slots=True)
class Context:
    """The weight of an item's better neighbour: (own + weight * neighbour's) / (1 + weight).

    starts: positions of the items, the first one among them, that do not follow the item before them.
    """

    weight: float
    starts: NDArray[np.int64]

    def of(self, estimates: Rows) -> Rows:
        """Return the estimates with their neighbours; -inf is no neighbour, and nothing helps it."""
        before, after = np.full_like(estimates, -np.inf), np.full_like(estimates, -np.inf)
        before[1:], after[:-1] = estimates[:-1], estimates[1:]
        before[self.starts], after[self.starts - 1] = -np.inf, -np.inf
        better = np.maximum(before, after)
        better = np.where(np.isfinite(better), better, estimates)
        return np.asarray((estimates + self.weight * better) / (1 + self.weight), dtype=np.float32)


def item_type(dimension: int) -> np.dtype[np.void]:
    """Return the type of one item: 16 bytes of an id, the time in ms that it shows, its scales and its bits.

    sign_scale, scale: for the estimates by signs and by both bits. signs, large: 64 dimensions to a number.
    """
    words = -(-dimension // 64)
    return np.dtype(
        [
            ("id", "V16"),
            ("start_ms", "<i8"),
            ("end_ms", "<i8"),
            ("sign_scale", "<f4"),
            ("scale", "<f4"),
            ("signs", "<u8", (words,)),
            ("large", "<u8", (words,)),
        ]
    )


def centre_of(vectors: Rows) -> Rows:
    """Return the centre for a new block whose first vectors are these, shape (n, d), of unit length, in half precision.

    It is their mean, shrunk to what they have in common beyond chance (James and Stein, 1961): the mean of a few
    vectors is mostly noise, which would lengthen the rest of every vector of the block. One vector alone gives 0.
    """
    mean, count = vectors.mean(axis=0), len(vectors)
    length = float(mean @ mean)
    common = (count * length - 1) / (count - 1) if count > 1 else 0.0
    shrunk = mean * (max(0.0, common) / length) if length > 0 else mean
    return np.asarray(shrunk.astype(np.float16), dtype=np.float32)


def sketch(ids: Sequence[bytes], times: Sequence[tuple[int, int]], vectors: Rows, centre: Rows) -> NDArray[np.void]:
    """Return one item per row of vectors, shape (n, d). ids: 16 bytes each. times: start and end in ms."""
    rest = vectors - centre
    length, absolute = (rest * rest).sum(axis=1), np.abs(rest)
    large = absolute > LARGE * np.sqrt(length / rest.shape[1])[:, None]
    items = np.zeros(len(vectors), dtype=item_type(vectors.shape[1]))
    items["id"] = np.frombuffer(b"".join(ids), dtype="V16")
    items["start_ms"], items["end_ms"] = np.asarray(times, dtype=np.int64).reshape(-1, 2).T
    items["sign_scale"] = _quotient(length, absolute.sum(axis=1))
    items["scale"] = _quotient(length, (absolute * np.where(large, LARGE_LEVEL, SMALL_LEVEL)).sum(axis=1))
    items["signs"], items["large"] = _bits(rest > 0), _bits(large)
    return items


def _quotient(over: Rows, under: Rows) -> Rows:
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0)


def _bits(rows: NDArray[np.bool_]) -> NDArray[np.uint64]:
    packed = np.packbits(rows, axis=1, bitorder="little")
    whole = np.zeros((len(rows), -(-rows.shape[1] // 64) * 8), dtype=np.uint8)
    whole[:, : packed.shape[1]] = packed
    return whole.view("<u8")


def _along_memory(blocks: Sequence[Block], name: str) -> NDArray[np.uint64]:
    return np.ascontiguousarray(np.concatenate([block.items[name] for block in blocks]).T)


def _column(blocks: Sequence[Block], name: str) -> NDArray[Any]:
    return np.concatenate([np.ascontiguousarray(block.items[name]) for block in blocks])


@dataclass(slots=True)
class Places:
    """The ids and times of the items of many blocks, in their order, whatever their dimension."""

    blocks: Sequence[Block]
    ids: NDArray[np.void] = field(init=False)
    start_ms: NDArray[np.int64] = field(init=False)
    end_ms: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.ids = _column(self.blocks, "id")
        self.start_ms, self.end_ms = _column(self.blocks, "start_ms"), _column(self.blocks, "end_ms")

    @property
    def nbytes(self) -> int:
        return self.ids.nbytes + self.start_ms.nbytes + self.end_ms.nbytes


@dataclass(slots=True)
class Sketches:
    """The items of many blocks of one dimension, in their order.

    owner: the block of each item. ids, start_ms, end_ms, sign_scale, scale: columns of the items. signs, large: one row
    per 64 dimensions, so that every step of a search runs along memory. ones: number of
    signs that are 1. centres: one row per block.
    """

    blocks: Sequence[Block]
    owner: NDArray[np.int64] = field(init=False)
    ids: NDArray[np.void] = field(init=False)
    start_ms: NDArray[np.int64] = field(init=False)
    end_ms: NDArray[np.int64] = field(init=False)
    sign_scale: Rows = field(init=False)
    scale: Rows = field(init=False)
    signs: NDArray[np.uint64] = field(init=False)
    large: NDArray[np.uint64] = field(init=False)
    ones: NDArray[np.uint16] = field(init=False)
    centres: Rows = field(init=False)

    def __post_init__(self) -> None:
        self.owner = np.repeat(np.arange(len(self.blocks)), [len(block.items) for block in self.blocks])
        self.ids = _column(self.blocks, "id")
        self.start_ms, self.end_ms = _column(self.blocks, "start_ms"), _column(self.blocks, "end_ms")
        self.sign_scale, self.scale = _column(self.blocks, "sign_scale"), _column(self.blocks, "scale")
        self.signs, self.large = _along_memory(self.blocks, "signs"), _along_memory(self.blocks, "large")
        self.ones = _count(self.signs, None)
        self.centres = np.stack([block.centre for block in self.blocks])

    @property
    def nbytes(self) -> int:
        columns = (self.owner, self.ids, self.start_ms, self.end_ms, self.sign_scale, self.scale, self.ones)
        return sum(column.nbytes for column in (*columns, self.signs, self.large, self.centres))

    def nearest(
        self, query: Vector, count: int, admitted: NDArray[np.bool_] | None = None, context: Context | None = None
    ) -> NDArray[np.int64]:
        """Return the positions of the count items with the highest estimated products with query, best first.

        admitted: one value per item; items without it are not returned, and are nobody's neighbours. context: makes
        neighbours count, as ports.ViewQuery.context says.
        """
        query = np.asarray(query, dtype=np.float32)
        fine = _Estimate(self, query, few=len(self.owner) <= max(FINE, 4 * count))
        coarse = fine.by_signs()
        if admitted is not None:
            coarse[~admitted] = -np.inf
        if context is None:
            best = _admitted(_highest(coarse, max(FINE, len(coarse) // FINE_SHARE, 4 * count)), coarse)
            estimates = fine.by_both(best)
        else:
            first = context.of(coarse)
            best = _admitted(_highest(first, max(FINE, len(first) // FINE_IN_CONTEXT, 4 * count)), coarse)
            around = _admitted(with_neighbours(best, len(first)), coarse)
            whole = np.full_like(coarse, -np.inf)
            whole[around] = fine.by_both(around)
            estimates = context.of(whole)[best]
        chosen = _highest(estimates, count)
        return np.asarray(best[chosen[np.argsort(-estimates[chosen], kind="stable")]])


class _Estimate:
    """The estimated products of items with a query. few: of so few items that all are estimated by both bits."""

    def __init__(self, of: Sketches, query: Vector, *, few: bool) -> None:
        self._of = of
        self._centred = _products(of.centres, query)[of.owner]
        self._rounded = _Rounded(query, FINE_BITS)
        rounded = self._rounded if few else _Rounded(query, QUERY_BITS)
        self._signed = 2 * rounded.sums(of.signs, of.ones) - rounded.total

    def by_signs(self) -> Rows:
        """Return the estimates of all items by their signs."""
        return self._centred + self._of.sign_scale * self._signed

    def by_both(self, items: NDArray[np.int64]) -> Rows:
        """Return the estimates of these items by both bits.

        Their products with the signs are those of the first estimate: there the query's rounding counts with
        SMALL_LEVEL alone.
        """
        signs, large = self._of.signs[:, items], self._of.large[:, items]
        both = signs & large
        by_large = 2 * self._rounded.sums(both, _count(both, None)) - self._rounded.sums(large, _count(large, None))
        levels = SMALL_LEVEL * self._signed[items] + (LARGE_LEVEL - SMALL_LEVEL) * by_large
        return np.asarray(self._centred[items] + self._of.scale[items] * levels)


@dataclass(slots=True)
class _Rounded:
    """A query with each number rounded to one of 2**bits steps about 0; those beyond the steps count as the last ones.

    lowest: the first step. planes: bit by bit, the bits of all numbers. total: of the rounded numbers.
    """

    query: Vector
    bits: int
    lowest: np.float32 = field(init=False)
    step: np.float32 = field(init=False)
    planes: list[NDArray[np.uint64]] = field(init=False)
    total: np.float32 = field(init=False)

    def __post_init__(self) -> None:
        most = np.float32(2**self.bits - 1)
        steps = (RANGES * np.abs(self.query).max() * 2 / most)[:, None] + np.float32(1e-30)
        whole = np.clip(np.rint(self.query / steps + most / 2), 0, most)
        errors = (((whole - most / 2) * steps - self.query) ** 2).sum(axis=1)
        best = int(errors.argmin())
        self.step = steps[best, 0]
        self.lowest = -self.step * most / 2
        self.total = self.lowest * np.float32(whole.shape[1]) + self.step * whole[best].sum()
        numbers = whole[best].astype(np.uint16)
        self.planes = [_bits((numbers[None] >> bit) & 1 > 0)[0] for bit in range(self.bits)]

    def sums(self, words: NDArray[np.uint64], ones: NDArray[np.uint16]) -> Rows:
        """Return for each item the sum of the query's numbers where the item's bit is 1.

        words: shape (dimensions / 64, n). ones: number of the bits of each item that are 1.
        """
        sums = np.empty(words.shape[1], dtype=np.float32)
        # Item by item the work is small, so what counts is that a part and its sums stay in the processor's cache.
        for first in range(0, words.shape[1], _PART):
            part = words[:, first : first + _PART]
            sums[first : first + _PART] = self.lowest * ones[first : first + _PART]
            for bit, plane in enumerate(self.planes):
                sums[first : first + _PART] += (self.step * np.float32(2**bit)) * _count(part, plane)
        return sums


def _count(words: NDArray[np.uint64], of: NDArray[np.uint64] | None) -> NDArray[np.uint16]:
    """Return for each item the number of its bits that are 1, and are 1 in of as well."""
    counts = np.zeros(words.shape[1], dtype=np.uint16)
    common, ones = np.empty(words.shape[1], dtype=np.uint64), np.empty(words.shape[1], dtype=np.uint8)
    # A byte holds the ones of three numbers of 64 bits, and bytes are added at eight times the speed of wider numbers.
    for first in range(0, len(words), 3):
        few = np.zeros(words.shape[1], dtype=np.uint8)
        for number in range(first, min(first + 3, len(words))):
            row = words[number] if of is None else np.bitwise_and(words[number], of[number], out=common)
            few += np.bitwise_count(row, out=ones)
        counts += few
    return counts


def _products(rows: Rows, query: Vector) -> Rows:
    # Without the threads of a linear algebra library: on busy cores they wait for each other for 15 ms.
    return np.asarray(np.einsum("ij,j->i", rows, query), dtype=np.float32)


def _admitted(items: NDArray[np.int64], estimates: Rows) -> NDArray[np.int64]:
    return np.asarray(items[np.isfinite(estimates[items])])


def with_neighbours(items: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the positions of items and of their neighbours, in order. count: number of all items."""
    there = np.zeros(count + 2, dtype=np.bool_)
    for step in (0, 1, 2):
        there[items + step] = True
    return np.flatnonzero(there[1:-1])


def _highest(values: Rows, count: int) -> NDArray[np.int64]:
    """Return the positions of the highest values, at least count if there are as many."""
    if len(values) <= count:
        return np.arange(len(values))
    candidates = np.arange(len(values))
    sample = values[::_SAMPLED]
    if (rank := 2 * count // _SAMPLED) < len(sample) // 2:
        # Most values are excluded by a bound from a sample, in a fraction of the time that a partition takes.
        likely = np.flatnonzero(values >= -np.partition(-sample, rank)[rank])
        candidates = likely if len(likely) >= count else candidates
    return np.asarray(candidates[np.argpartition(-values[candidates], count - 1)[:count]])


def scenes(vectors: Rows) -> list[range]:
    """Group pictures in order of time, rows of unit length, into runs that are nearly the same.

    A run ends where a picture has a cosine below SAME_SCENE with the mean of the run.
    """
    runs: list[range] = []
    total = np.zeros(vectors.shape[1], dtype=np.float32)
    for position, row in enumerate(vectors):
        if not runs or row @ total < SAME_SCENE * np.linalg.norm(total):
            runs.append(range(position, position))
            total = np.zeros_like(total)
        runs[-1] = range(runs[-1].start, position + 1)
        total = total + row
    return runs


def means(vectors: Rows, groups: Iterable[range]) -> Rows:
    """Return the mean of each group of rows, at unit length unless it is 0."""
    rows = np.stack([vectors[group.start : group.stop].mean(axis=0) for group in groups])
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0), dtype=np.float32)
