"""Reads of one comparison with its figures, across tenants."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

from backend.billing.models import GRADE
from backend.console.queries.role import joined, of_same_tenant, rows
from backend.questions.models import Comparison, ComparisonItem, ComparisonVideo
from backend.questions.queries.comparison_results import ItemResults, cost_of, results_of


def results(comparison: Comparison) -> list[ItemResults]:
    """Return the results of all items of a comparison, in order."""
    items = of_same_tenant(ComparisonItem, comparison).filter(comparison_id=comparison.id).order_by("position")
    return results_of(comparison, list(items), partial(of_same_tenant, row=comparison), cost_of)


def results_at(comparison: Comparison, position: int) -> ItemResults | None:
    """Return the results of one item; None if there is no such item."""
    of_comparison = of_same_tenant(ComparisonItem, comparison).filter(comparison_id=comparison.id)
    items = list(of_comparison.filter(position=position))
    found = results_of(comparison, items, partial(of_same_tenant, row=comparison), cost_of)
    return found[0] if items else None


def videos(comparison: Comparison) -> list[ComparisonVideo]:
    """Return the videos of a comparison with the versions that every arm reads."""
    found = of_same_tenant(ComparisonVideo, comparison).filter(comparison_id=comparison.id).order_by("video_id")
    return list(joined(found, "video"))


def grading_cost(comparison: Comparison) -> Decimal:
    """Return what the judge of a comparison cost."""
    found = rows(
        "SELECT coalesce(sum(u.cost_amount), 0) AS cost FROM billing_usageevent u "
        "JOIN questions_question q ON q.tenant_id = u.tenant_id AND q.id::text = u.source_id "
        "WHERE q.tenant_id = %(tenant)s AND q.comparison_id = %(comparison)s AND u.source_type = %(grade)s",
        {"tenant": comparison.tenant_id, "grade": GRADE, "comparison": comparison.id},
    )
    cost: Decimal = found[0]["cost"]
    return cost
