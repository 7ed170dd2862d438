"""Two halves of a set: one to fit on, the other to report on.

The half follows from the item's id alone. So it is the same for every limit, seed and order, and a question that a
number was fitted on is never one that the number is reported on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")

HALVES = ("first", "second")


def half_of(key: str) -> str:
    """Return the half of the item with this id: first or second."""
    return HALVES[hashlib.sha256(key.encode()).digest()[0] % 2]


def in_half(items: Sequence[Item], half: str, key: Callable[[Item], str]) -> list[Item]:
    """Return the items of a half, in their order; all of them for "all"."""
    return [item for item in items if half in ("all", half_of(key(item)))]
