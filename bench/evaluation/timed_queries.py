"""Queries of a tape that name when their moment is seen, in the words of a person who remembers it roughly."""

from __future__ import annotations

import random

from bench.evaluation.datasets import TapeQuery
from gpu_workers.engine.ekg import Span

STRETCH_MS = 600_000
"""Length of the stretches that are named by both ends."""
HOUR_MS = 3_600_000
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh")


def with_time(query: TapeQuery, *, seed: int) -> str:
    """Return the query's words with a time that is true of it: the second of its middle, the minute nearest to it, the
    ten minutes around it by the clock of the tape, or the hour of its middle. seed: draws which."""
    middle = (query.span.start_ms + query.span.end_ms) // 2
    stretch = _stretch(middle)
    times = (
        f"at {_clock(middle)}",
        f"around {_clock((middle + 30_000) // 60_000 * 60_000)}",
        f"between {_clock(stretch.start_ms)} and {_clock(stretch.end_ms)}",
        f"in the {ORDINALS[middle // HOUR_MS]} hour",
    )
    return f"{query.text.strip().rstrip('.')} {random.Random(f'{seed} {query.id}').choice(times)}."


def _stretch(ms: int) -> Span:
    start_ms = ms // STRETCH_MS * STRETCH_MS
    return Span(start_ms, start_ms + STRETCH_MS)


def _clock(ms: int) -> str:
    seconds = ms // 1_000
    return f"{seconds // 3_600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
