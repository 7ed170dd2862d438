"""Sketches of vectors: one bit per dimension, by which the best of many vectors are found without reading them.

A vector x is its block's centre c plus a rest y. The sketch keeps the signs of y and scale = |y|^2 / sum |y_i|. Then
q.x is about q.c + scale * q.sign(y), without bias over random rotations (Gao and Long, RaBitQ, SIGMOD 2024). A search
first counts the bits in which q and y differ, then takes q itself instead of its signs for the best FINE items. The
caller ranks what is returned by the vectors themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Vector

FINE = 8_192
"""Items of the bit count that are estimated again with the query's numbers. A text that matches a picture with a cosine
of 0.3 lies 3.8 standard deviations above chance in 384 bits, so that hundreds of 100,000 items may be before it."""
SAME_SCENE = 0.9
"""Minimum cosine of a picture with the mean of the pictures before it that it is sketched together with."""
LINES = 4
"""Spoken lines that are sketched together."""

Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Block:
    """Sketches with one centre. centre: shape (d,). items: n rows of item_type(d)."""

    centre: Rows
    items: NDArray[np.void]


def item_type(dimension: int) -> np.dtype[np.void]:
    """Return the type of one item: 16 bytes of an id, the time in ms that it shows, its scale and its bits."""
    words = -(-dimension // 64)
    return np.dtype(
        [("id", "V16"), ("start_ms", "<i8"), ("end_ms", "<i8"), ("scale", "<f8"), ("bits", "<u8", (words,))]
    )


def centre_of(vectors: Rows) -> Rows:
    """Return the centre for a new block whose first vectors are these, shape (n, d): their mean in half precision."""
    return np.asarray(vectors.mean(axis=0).astype(np.float16), dtype=np.float32)


def sketch(ids: Sequence[bytes], times: Sequence[tuple[int, int]], vectors: Rows, centre: Rows) -> NDArray[np.void]:
    """Return one item per row of vectors, shape (n, d). ids: 16 bytes each. times: start and end in ms."""
    rest = vectors - centre
    length, absolute = (rest * rest).sum(axis=1), np.abs(rest).sum(axis=1)
    items = np.zeros(len(vectors), dtype=item_type(vectors.shape[1]))
    items["id"] = np.frombuffer(b"".join(ids), dtype="V16")
    items["start_ms"], items["end_ms"] = np.asarray(times, dtype=np.int64).reshape(-1, 2).T
    items["scale"] = np.divide(length, absolute, out=np.zeros_like(length), where=absolute > 0)
    items["bits"] = _bits(rest)
    return items


def _bits(rows: Rows) -> NDArray[np.uint64]:
    packed = np.packbits(rows > 0, axis=1, bitorder="little")
    whole = np.zeros((len(rows), -(-rows.shape[1] // 64) * 8), dtype=np.uint8)
    whole[:, : packed.shape[1]] = packed
    return whole.view("<u8")


@dataclass(slots=True)
class Sketches:
    """The items of many blocks of one dimension, in their order. owner: the block of each item."""

    blocks: Sequence[Block]
    bits: NDArray[np.uint64] = field(init=False)
    scale: Rows = field(init=False)
    owner: NDArray[np.int64] = field(init=False)
    first: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        sizes = [len(block.items) for block in self.blocks]
        # One row per 64 dimensions: then every step below runs along memory.
        self.bits = np.ascontiguousarray(np.concatenate([block.items["bits"] for block in self.blocks]).T)
        self.scale = np.concatenate([block.items["scale"] for block in self.blocks]).astype(np.float32)
        self.owner = np.repeat(np.arange(len(sizes)), sizes)
        self.first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)

    def nearest(self, query: Vector, count: int, admitted: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Return the positions of the count items with the highest estimated products with query, best first.

        admitted: one value per item; items without it are not returned.
        """
        query = np.asarray(query, dtype=np.float32)
        centred = _products(np.stack([block.centre for block in self.blocks]), query)
        differing = np.zeros(self.bits.shape[1], dtype=np.uint16)
        for word, of_query in zip(self.bits, _bits(query[None])[0], strict=True):
            differing += np.bitwise_count(word ^ of_query)
        agreement = np.float32(len(query)) - 2 * differing.astype(np.float32)
        coarse = centred[self.owner] + self.scale * np.abs(query).mean() * agreement
        if admitted is not None:
            coarse[~admitted] = -np.inf
        best = _highest(coarse, max(FINE, 4 * count))
        best = best[np.isfinite(coarse[best])]
        as_bytes = np.ascontiguousarray(self.bits[:, best].T).view(np.uint8)
        signs = np.unpackbits(as_bytes, axis=1, bitorder="little")[:, : len(query)].astype(np.float32)
        fine = centred[self.owner[best]] + self.scale[best] * (2 * _products(signs, query) - query.sum())
        chosen = _highest(fine, count)
        return best[chosen[np.argsort(-fine[chosen], kind="stable")]]

    def item(self, position: int) -> tuple[int, np.void]:
        """Return the number of the item's block, and the item."""
        owner = int(self.owner[position])
        return owner, self.blocks[owner].items[position - self.first[owner]]


def _products(rows: Rows, query: Vector) -> Rows:
    # Without the threads of a linear algebra library: on busy cores they wait for each other for 15 ms.
    return np.asarray(np.einsum("ij,j->i", rows, query), dtype=np.float32)


def _highest(values: Rows, count: int) -> NDArray[np.int64]:
    if len(values) <= count:
        return np.arange(len(values))
    return np.asarray(np.argpartition(-values, count)[:count])


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


def in_parts(count: int) -> list[range]:
    """Group count spoken lines, LINES at a time."""
    return [range(start, min(start + LINES, count)) for start in range(0, count, LINES)]


def means(vectors: Rows, groups: Iterable[range]) -> Rows:
    """Return the mean of each group of rows, at unit length unless it is 0."""
    rows = np.stack([vectors[group.start : group.stop].mean(axis=0) for group in groups])
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0), dtype=np.float32)
