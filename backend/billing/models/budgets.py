"""What a tenant has consumed in a month, and what it may consume."""

from __future__ import annotations

from django.db import models

from backend.tenancy.models import TenantRow


class UsageMonth(TenantRow):
    """What the questions and searches of a tenant consumed in one calendar month (UTC): sums of the ledger's rows.

    A trigger of the ledger adds to it when a transaction commits. So its lock is the last one that a transaction takes,
    and nothing that writes the ledger can forget it.
    """

    month = models.DateField()
    tokens = models.DecimalField(max_digits=24, decimal_places=6, default=0)
    seconds = models.DecimalField(max_digits=24, decimal_places=6, default=0)
    cost = models.DecimalField(max_digits=24, decimal_places=10, default=0)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "month"], name="usage_month_once")]


class TenantBudget(TenantRow):
    """Limits of all questions and searches of a tenant together, in one calendar month (UTC). Null is no limit.

    max_seconds: of model time. max_cost: cost of model calls by the cost book, in the ledger's currency.
    """

    max_tokens = models.BigIntegerField(null=True)
    max_seconds = models.DecimalField(max_digits=20, decimal_places=3, null=True)
    max_cost = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant"], name="budget_once_per_tenant")]


class OpenSpending(TenantRow):
    """The consumption of a running question, not yet in the ledger. Deleted when the question has an outcome."""

    question_id = models.UUIDField()
    tokens = models.BigIntegerField(default=0)
    seconds = models.DecimalField(max_digits=20, decimal_places=3, default=0)
    cost = models.DecimalField(max_digits=20, decimal_places=10, default=0)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "question_id"], name="spending_once_per_question")]
