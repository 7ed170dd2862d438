"""Reads of the budgets that a tenant has set."""

from __future__ import annotations

from django.db.models import QuerySet

from backend.billing.models import Budget


def budgets() -> QuerySet[Budget]:
    """Return the budgets of the tenant and of its API keys."""
    rows: QuerySet[Budget] = Budget.objects.all()
    return rows
