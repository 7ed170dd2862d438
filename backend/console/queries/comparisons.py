"""Reads of one comparison with its figures, across tenants."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from backend.billing.models import GRADE
from backend.console.queries.role import across_tenants, rows
from backend.questions.models import Comparison, ComparisonItem, ComparisonVideo
from backend.questions.queries.comparison_results import ItemResults, cost_of, results_of


def results(comparison: Comparison) -> list[ItemResults]:
    """Return the results of all items of a comparison, in order."""
    items = list(across_tenants(ComparisonItem).filter(comparison_id=comparison.id).order_by("position"))
    return results_of(comparison, items, across_tenants, cost_of)


def results_at(comparison: Comparison, position: int) -> ItemResults | None:
    """Return the results of one item; None if there is no such item."""
    items = list(across_tenants(ComparisonItem).filter(comparison_id=comparison.id, position=position))
    return results_of(comparison, items, across_tenants, cost_of)[0] if items else None


def videos(comparison_id: UUID) -> list[ComparisonVideo]:
    """Return the videos of a comparison with the versions that every arm reads."""
    found = across_tenants(ComparisonVideo).filter(comparison_id=comparison_id).order_by("video_id")
    return list(found.select_related("video"))


def grading_cost(comparison_id: UUID) -> Decimal:
    """Return what the judge of a comparison cost."""
    found = rows(
        "SELECT coalesce(sum(u.cost_amount), 0) AS cost FROM billing_usageevent u "
        "JOIN questions_question q ON q.tenant_id = u.tenant_id AND q.id::text = u.source_id "
        "WHERE u.source_type = %(grade)s AND q.comparison_id = %(comparison)s",
        {"grade": GRADE, "comparison": comparison_id},
    )
    cost: Decimal = found[0]["cost"]
    return cost
