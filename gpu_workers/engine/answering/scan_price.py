"""What a scan takes: the one rule behind estimates, notes and refusals. A leaf, so that the API can import it alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpu_workers.engine.answering.contract import Effort

BATCH = 16
"""Number of events that one call judges, as many as an answer of `ava` reads at most. A small reasoner judges one: in
lists it says yes to four times as many events as it should (ADR 22)."""

MOST_CALLS: Mapping[Effort, int] = {"low": 40, "medium": 250, "high": 500, "paper": 250}
"""Maximum number of calls of one scan with a reasoner that is not small: 640, 4,000 and 8,000 events.

The price of a question is flat, so that the work behind it is bounded (docs/billing.md)."""

MOST_CALLS_SMALL: Mapping[Effort, int] = {"low": 12, "medium": 24, "high": 96, "paper": 24}
"""The same with a small reasoner, which takes about a second for an event on two cores."""

CALL_TOKENS = 160
"""Tokens of a call's instructions and its statement."""

EVENT_TOKENS = 80
"""Maximum tokens of an event in a call."""

VERDICT_TOKENS, NUMBER_TOKENS = 40, 6
"""Maximum tokens of a reply without its numbers, and of each event's number in it."""

PACE = (3_000.0, 60.0)
PACE_SMALL = (80.0, 10.0)
"""Tokens per second that are read and written before any call was measured: of a served model, of a small one on two
cores. Initial values; they only word an estimate."""


@dataclass(frozen=True, slots=True)
class ScanPrice:
    """Likely values of a scan's model calls. seconds: if the model is idle."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float


def scan_batch(*, small: bool) -> int:
    """Return how many events one call judges."""
    return 1 if small else BATCH


def most_calls(effort: Effort, *, small: bool) -> int:
    """Return the maximum number of calls of one scan."""
    return (MOST_CALLS_SMALL if small else MOST_CALLS)[effort]


def most_events(effort: Effort, *, small: bool) -> int:
    """Return the maximum number of events that one scan judges."""
    return most_calls(effort, small=small) * scan_batch(small=small)


def scan_price(events: int, effort: Effort, *, small: bool, at_once: int = 8) -> ScanPrice:
    """Return what judging that many events takes: events by batch by tokens, capped by the effort's number of calls.

    at_once: number of calls in flight.
    """
    judged = min(events, most_events(effort, small=small))
    calls = -(-judged // scan_batch(small=small))
    prompt = calls * CALL_TOKENS + judged * EVENT_TOKENS
    written = calls if small else calls * VERDICT_TOKENS + judged * NUMBER_TOKENS
    return ScanPrice(calls, prompt, written, likely_seconds(prompt, written, small=small, at_once=min(calls, at_once)))


def likely_seconds(prompt_tokens: int, completion_tokens: int, *, small: bool, at_once: int) -> float:
    """Return how long the calls of a scan will take, by initial values."""
    read_pace, write_pace = PACE_SMALL if small else PACE
    return (prompt_tokens / read_pace + completion_tokens / write_pace) / max(1, at_once)
