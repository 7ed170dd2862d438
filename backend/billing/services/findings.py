"""Findings of the sweeps about money, next to the invariants: how many there are, as the relays export them."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Min
from django.utils import timezone

from backend.billing.models import InvariantResult

EXPORT_DIFFERENCES = "export_differences"
"""Days and meters of which a billing system outside has another quantity than the ledger."""
EXPORT_FAILURES = "export_failures"
"""Refusals of a billing system outside in the last sweep, by tenant."""
EXPORT_SKIPPED = "export_skipped"
"""Tenants with billable usage that was too old for a billing system outside."""
EXPORT_UNCOMPARED = "export_uncompared"
"""Tenants whose usage in a billing system outside was not compared for two days."""
HOURS_MISSING = "machine_hours_missing"
"""Days with attributed device time of served models and without machine hours."""
OVERSPENT_DAYS = "overspent_days"
"""Days with more attributed than paid device time."""
UNRATED_MODELS = "unrated_models"
"""Served models that have worked in the last days and have no measured rate."""
FINDINGS = (
    EXPORT_DIFFERENCES, EXPORT_FAILURES, EXPORT_SKIPPED, EXPORT_UNCOMPARED, HOURS_MISSING, OVERSPENT_DAYS,
    UNRATED_MODELS,
)  # fmt: skip
EXAMPLES = 20
"""Findings of a kind that are kept in words."""


def store_findings(name: str, found: Sequence[str]) -> None:
    """Replace the last findings of a kind. found: each in words."""
    if name not in FINDINGS:
        raise ValueError(f"unknown finding {name!r}")
    row = InvariantResult(name=name, checked_at=timezone.now(), violations=len(found), examples=list(found[:EXAMPLES]))
    InvariantResult.objects.using("dispatch").bulk_create(
        [row], update_conflicts=True, unique_fields=["name"], update_fields=["checked_at", "violations", "examples"]
    )


def oldest_finding_seconds() -> float | None:
    """Return the age of the oldest of the last findings in seconds, None before the first sweep."""
    rows = InvariantResult.objects.using("dispatch").filter(name__in=FINDINGS)
    oldest = rows.aggregate(at=Min("checked_at"))["at"]
    return None if oldest is None else max(0.0, (timezone.now() - oldest).total_seconds())


def last_findings() -> dict[str, int]:
    """Return the number of findings by kind, as the dispatch role sees them. A kind never checked is absent."""
    rows = InvariantResult.objects.using("dispatch").filter(name__in=FINDINGS)
    return dict(rows.values_list("name", "violations"))
