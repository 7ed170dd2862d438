"""Estimates out of what work of the same kind took before, with the error that such estimates had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

FEWEST = 5
"""Pieces of work below which the history says nothing and the assumption stands."""
RECENT = 200
"""Number of the latest pieces of work that an estimate reads."""
LOW, HIGH = Decimal("0.1"), Decimal("0.9")


@dataclass(frozen=True, slots=True)
class Span:
    """A low, an expected and a high value: the 10th, 50th and 90th percentile of the history, or an assumption."""

    low: Decimal
    expected: Decimal
    high: Decimal

    def scaled(self, factor: Decimal) -> Span:
        return Span(self.low * factor, self.expected * factor, self.high * factor)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A span, and how well it was met. sample: pieces of work behind it, 0 if it is assumed.

    error: median of |expected - actual| / actual, and covered: share of actual values from low to high, each estimated
    from the pieces of work before it. None if the history is too short to measure them.
    """

    span: Span
    sample: int
    error: Decimal | None = None
    covered: Decimal | None = None


def estimate(history: Sequence[Decimal], *, assumed: Span) -> Estimate:
    """Return an estimate of the next value. history: values of earlier work, oldest first, all above zero."""
    values = list(history)[-RECENT:]
    if len(values) < FEWEST:
        return Estimate(assumed, 0)
    spans = [(span_of(values[:n]), values[n]) for n in range(FEWEST, len(values))]
    if not spans:
        return Estimate(span_of(values), len(values))
    errors = sorted(abs(span.expected - actual) / actual for span, actual in spans)
    met = sum(span.low <= actual <= span.high for span, actual in spans)
    return Estimate(span_of(values), len(values), percentile(errors, Decimal("0.5")), Decimal(met) / len(spans))


def span_of(values: Sequence[Decimal]) -> Span:
    """Return the percentiles of at least one value."""
    ordered = sorted(values)
    return Span(percentile(ordered, LOW), percentile(ordered, Decimal("0.5")), percentile(ordered, HIGH))


def percentile(ordered: Sequence[Decimal], fraction: Decimal) -> Decimal:
    """Return a percentile of ordered values, interpolated between its neighbours as PostgreSQL's percentile_cont."""
    position = fraction * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
