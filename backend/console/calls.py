"""The model calls of one question for the console: tokens and time of each, and the sums of each stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.billing.models import ModelCall


@dataclass(frozen=True, slots=True)
class CallBar:
    """A model call. time, tokens: in percent of the longest and of the largest call."""

    call: ModelCall
    time: float
    tokens_in: float
    tokens_out: float


def waterfall(calls: Sequence[ModelCall]) -> list[CallBar]:
    """Return the calls in their order, each with its share of the longest call and of the most tokens of a call."""
    longest = max([call.wall_ms for call in calls], default=0) or 1
    most = max([call.prompt_tokens + call.completion_tokens for call in calls], default=0) or 1
    return [
        CallBar(
            call, 100 * call.wall_ms / longest, 100 * call.prompt_tokens / most, 100 * call.completion_tokens / most
        )
        for call in calls
    ]
