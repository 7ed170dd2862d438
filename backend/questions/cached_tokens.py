"""What customers see of the tokens that a model server had cached.

An exact count shows, token by token, how much of a guessed prompt a server has read before. The ledger keeps the count.
"""

from __future__ import annotations

STEP = 1_000


def coarse(tokens: int) -> int:
    """Return a number of cached tokens rounded down to whole thousands."""
    return tokens - tokens % STEP
