"""The model calls of one question for the console: when each began, how long it took, and its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.billing.models import ModelCall


@dataclass(frozen=True, slots=True)
class CallBar:
    """A model call. left, width: its place in the time from the first call's start to the last one's end, in percent;
    left is None for a call whose start was not recorded. tokens_in, tokens_out: in percent of the most of one call."""

    call: ModelCall
    left: float | None
    width: float
    tokens_in: float
    tokens_out: float


def waterfall(calls: Sequence[ModelCall]) -> list[CallBar]:
    """Return the calls in the order of their starts, with their places in the time of all of them.

    Calls without a start come last, each as wide as its share of that time.
    """
    began = [(call, call.start_ms) for call in calls if call.start_ms is not None]
    first = min([start for _, start in began], default=0)
    whole = max([start + call.wall_ms for call, start in began] + [first + call.wall_ms for call in calls], default=0)
    whole_ms = (whole - first) or 1
    most = max([call.prompt_tokens + call.completion_tokens for call in calls], default=0) or 1
    in_order = sorted(calls, key=lambda call: (call.start_ms is None, call.start_ms or 0, call.ordinal))
    return [
        CallBar(
            call=call,
            left=None if call.start_ms is None else 100 * (call.start_ms - first) / whole_ms,
            width=100 * call.wall_ms / whole_ms,
            tokens_in=100 * call.prompt_tokens / most,
            tokens_out=100 * call.completion_tokens / most,
        )
        for call in in_order
    ]
