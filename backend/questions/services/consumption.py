"""What an answer took, as its question or search shows it: model calls, tokens and times."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from backend.billing.rates import plain
from backend.billing.services.usage import ledger
from backend.questions.models import Question

if TYPE_CHECKING:
    from gpu_workers.engine.answering.contract import Answer
    from gpu_workers.engine.models.roles import ModelCall


def usage_of(calls: Sequence[ModelCall]) -> dict[str, Any]:
    """Return the consumption of model calls as a question or a search shows it.

    Tokens that a server read out of a cache of all tenants are not shown as cached: the number would show what another
    tenant asked.
    """
    return {
        "calls": len(calls),
        "prompt_tokens": sum(call.prompt_tokens for call in calls),
        "cached_tokens": sum(call.cached_tokens for call in calls if not call.cache_shared),
        "completion_tokens": sum(call.completion_tokens for call in calls),
        "device_seconds": plain(sum(map(ledger.device_ms, calls), Decimal(0)) / 1000),
    }


def timings_of(question: Question, answer: Answer) -> dict[str, int]:
    """Return durations in milliseconds.

    engine_ms: of the whole answer, whatever stages the method timed. llm_ms sums calls that may have run at once, so it
    can exceed total_ms, which includes the queue.
    """
    started, completed = question.started_at or question.created_at, question.completed_at or timezone.now()
    queue_ms = round((started - question.created_at).total_seconds() * 1000)
    total_ms = round((completed - question.created_at).total_seconds() * 1000)
    names = {"total": "engine"}
    return {
        **{f"{names.get(stage, stage)}_ms": ms for stage, ms in answer.timings.items()},
        "queue_ms": max(0, queue_ms),
        "llm_ms": sum(call.wall_ms for call in answer.usage.calls if call.completion_tokens),
        "total_ms": max(0, total_ms),
    }
