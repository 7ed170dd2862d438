"""The nightly check of the invariants, and its results as the relays export them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime

from django.utils import timezone

from backend.billing.invariants import load, registry
from backend.billing.models import InvariantResult
from backend.billing.services.findings import FINDINGS

EXAMPLES = 20
"""Violations of an invariant that are kept in words."""


def check_and_store(*, should_stop: Callable[[], bool] = lambda: False) -> dict[str, int] | None:
    """Check all invariants of all tenants and store the results. Returns the number of violations by invariant.

    Returns None, and stores nothing, if the check was stopped: half a check proves nothing.
    """
    load()
    counts: Counter[str] = Counter(dict.fromkeys(registry.INVARIANTS, 0))
    examples: defaultdict[str, list[str]] = defaultdict(list)
    for outcome in registry.check_all():
        if should_stop():
            return None
        counts[outcome.name] += len(outcome.violations)
        room = EXAMPLES - len(examples[outcome.name])
        examples[outcome.name] += [f"{outcome.tenant_id or 'service'}: {text}" for text in outcome.violations[:room]]
    now = timezone.now()
    rows = [
        InvariantResult(name=name, checked_at=now, violations=count, examples=examples[name])
        for name, count in sorted(counts.items())
    ]
    InvariantResult.objects.using("dispatch").bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["checked_at", "violations", "examples"],
    )
    return dict(counts)


def last_results() -> dict[str, tuple[int, datetime]]:
    """Return the violations and the time of the last check by invariant, as the dispatch role sees them."""
    rows = (
        InvariantResult.objects.using("dispatch")
        .exclude(name__in=FINDINGS)
        .values_list("name", "violations", "checked_at")
    )
    return {name: (violations, checked_at) for name, violations, checked_at in rows}


def oldest_result_seconds(results: Mapping[str, tuple[int, datetime]]) -> float | None:
    """Return the age of the oldest of the last results in seconds, None if nothing was checked yet."""
    if not results:
        return None
    return max(0.0, (timezone.now() - min(checked_at for _, checked_at in results.values())).total_seconds())
