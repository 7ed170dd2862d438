"""Bytes of bodies that an API process holds: bounded in all and for each address, before anybody is authenticated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

FREE_BYTES = 16 * 1024
"""First bytes of a body, which count for nobody: small requests go on when large bodies fill the budget."""


class AddressHasTooMany(Exception):
    """The address has as many bytes under way as it may have."""


class ProcessHasTooMany(Exception):
    """All addresses together have as many bytes under way as the process takes."""


class BodyBudget:
    """Used on one event loop. bytes_in_all, bytes_of_address: maximum numbers of bytes beyond the free ones."""

    def __init__(self, bytes_in_all: int, bytes_of_address: int) -> None:
        self._most, self._most_of_address = bytes_in_all, bytes_of_address
        self._held: Counter[str] = Counter()
        self._total = 0

    @contextmanager
    def body(self, address: str) -> Iterator[HeldBody]:
        """Count the bytes of one body until the end of the block."""
        held = HeldBody(self, address)
        try:
            yield held
        finally:
            self._change(address, -held.counted)

    def take(self, address: str, count: int) -> None:
        """Count further bytes. Raises AddressHasTooMany or ProcessHasTooMany, and counts none."""
        if self._held[address] + count > self._most_of_address:
            raise AddressHasTooMany
        if self._total + count > self._most:
            raise ProcessHasTooMany
        self._change(address, count)

    def _change(self, address: str, count: int) -> None:
        self._total += count
        self._held[address] += count
        if self._held[address] <= 0:
            del self._held[address]


class HeldBody:
    """The bytes of one body. counted: those that the budget counts."""

    def __init__(self, budget: BodyBudget, address: str) -> None:
        self._budget, self._address = budget, address
        self._size = self.counted = 0

    def grow(self, count: int) -> None:
        """Note that bytes have come. Raises AddressHasTooMany or ProcessHasTooMany."""
        self._size += count
        further = max(0, self._size - FREE_BYTES) - self.counted
        if further > 0:
            self._budget.take(self._address, further)
            self.counted += further
