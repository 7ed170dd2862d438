"""The usage ledger, the metered model calls behind it, and the price books that value it."""

from __future__ import annotations

from django.db import models
from uuid6 import uuid7

from backend.tenancy.models import TenantRow

# Source types: the kinds of work that ledger rows and model calls come from.
GRADE = "grade"
QUESTION = "question"
QUESTION_REVERSAL = "question_reversal"
SEARCH = "search"
SEGMENT = "segment"
SEGMENT_CREDIT = "segment_credit"
SEGMENT_RESTORED = "segment_restored"
WASTED = "wasted_attempt"


class UsageMeter(models.TextChoices):
    MEDIA_SECONDS = "media_seconds"
    QUESTIONS = "questions"
    INPUT_TOKENS = "input_tokens"
    CACHED_TOKENS = "cached_tokens"
    OUTPUT_TOKENS = "output_tokens"
    DEVICE_SECONDS = "device_seconds"
    STORAGE_BYTES = "storage_bytes"


class PriceBook(models.Model):
    """The amount that one unit costs us (kind cost) or a customer (kind price) from effective_from on. Append-only."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=8, choices=[("cost", "cost"), ("price", "price")])
    meter = models.CharField(max_length=32, choices=UsageMeter.choices)
    # A model's name, or "" for any.
    model = models.CharField(max_length=200, default="", blank=True)
    unit_amount = models.DecimalField(max_digits=20, decimal_places=12)
    currency = models.CharField(max_length=3, default="USD")
    effective_from = models.DateTimeField()
    note = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "meter", "model", "effective_from"], name="pricebook_effective")
        ]


class BillingSource(TenantRow):
    """What has been billed: a row per line of the ledger and per recording of model calls, written before them.

    id: digest of what the line bills (services.once). Whoever writes the row first bills it. The table is narrow and is
    kept for ever, so that the ledger itself can be divided by month.
    """


class UsageEvent(TenantRow):
    """One append-only ledger row. source_id names the work, not the attempt, so repeated work is billed once.

    Divided by the month of occurred_at.
    """

    meter = models.CharField(max_length=32, choices=UsageMeter.choices)
    quantity = models.DecimalField(max_digits=24, decimal_places=6)
    occurred_at = models.DateTimeField()
    recorded_at = models.DateTimeField(auto_now_add=True)
    source_type = models.CharField(max_length=32)
    source_id = models.CharField(max_length=200)
    # No foreign keys: the ledger outlives what it bills.
    video_id = models.UUIDField(null=True)
    question_id = models.UUIDField(null=True)
    api_key_id = models.UUIDField(null=True)
    stage = models.CharField(max_length=64, default="", blank=True)
    model = models.CharField(max_length=200, default="", blank=True)
    cost_amount = models.DecimalField(max_digits=20, decimal_places=10, default=0)
    price_amount = models.DecimalField(max_digits=20, decimal_places=10, default=0)
    currency = models.CharField(max_length=3, default="USD")
    billable = models.BooleanField(default=True)
    reason = models.CharField(max_length=64, default="", blank=True)

    class Meta(TenantRow.Meta):
        indexes = [
            models.Index(fields=["tenant", "source_type", "source_id"], name="usage_tenant_source"),
            models.Index(fields=["tenant", "occurred_at"], name="usage_tenant_time"),
            models.Index(fields=["tenant", "video_id"], name="usage_tenant_video"),
            models.Index(fields=["tenant", "question_id"], name="usage_tenant_question"),
        ]


class ModelCall(TenantRow):
    """One metered call of a model, as the engine's Meter saw it. Divided by the month of called_at."""

    source_type = models.CharField(max_length=32)
    source_id = models.UUIDField()
    ordinal = models.PositiveIntegerField()
    stage = models.CharField(max_length=64)
    model = models.CharField(max_length=200)
    wall_ms = models.PositiveIntegerField()
    # The call's share of its server's time.
    device_ms = models.PositiveIntegerField()
    prompt_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    items = models.PositiveIntegerField(default=1)
    ok = models.BooleanField(default=True)
    called_at = models.DateTimeField(auto_now_add=True)

    class Meta(TenantRow.Meta):
        indexes = [models.Index(fields=["tenant", "source_type", "source_id", "ordinal"], name="model_call_source")]


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


from backend.billing.quota_models import Budget, QuotaMonth, Reservation, Reserved  # noqa: E402, F401
