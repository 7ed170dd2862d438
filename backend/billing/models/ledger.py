"""The usage ledger, and the metered model calls behind it."""

from __future__ import annotations

from django.db import models

from backend.billing.models.meters import UsageMeter
from backend.tenancy.models import TenantRow


class BillingSource(TenantRow):
    """What has been billed: a row per line of the ledger and per recording of model calls, written before them.

    id: digest of what the line bills (services.once). Whoever writes the row first bills it. The table is narrow and is
    kept for ever, so that the ledger itself can be divided by month.
    """


class UsageEvent(TenantRow):
    """One append-only ledger row. source_id names the work, not the attempt, so repeated work is billed once.

    price_amount: the list price, unit amount times quantity at the price in force at occurred_at. Allowances, tiers,
    minimums, credits and tax are lines of the invoice. Divided by the month of occurred_at.
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
    variant = models.CharField(max_length=100, default="", blank=True)
    method = models.CharField(max_length=32, default="", blank=True)
    effort = models.CharField(max_length=16, default="", blank=True)
    profile = models.CharField(max_length=32, default="", blank=True)
    collection_id = models.UUIDField(null=True)
    person_id = models.UUIDField(null=True)
    cost_amount = models.DecimalField(max_digits=20, decimal_places=10, default=0)
    price_amount = models.DecimalField(max_digits=20, decimal_places=10, default=0)
    # The currency of the cost.
    currency = models.CharField(max_length=3, default="USD")
    # The rows of the price books that valued this one; null where nothing is valued.
    cost_price_id = models.UUIDField(null=True)
    price_id = models.UUIDField(null=True)
    price_version = models.PositiveIntegerField(null=True)
    price_currency = models.CharField(max_length=3, default="USD")
    # The row that this one takes back.
    reverses_id = models.UUIDField(null=True)
    billable = models.BooleanField(default=True)
    reason = models.CharField(max_length=64, default="", blank=True)

    class Meta(TenantRow.Meta):
        indexes = [
            models.Index(fields=["tenant", "source_type", "source_id"], name="usage_tenant_source"),
            models.Index(fields=["tenant", "occurred_at"], name="usage_tenant_time"),
            models.Index(fields=["tenant", "video_id"], name="usage_tenant_video"),
            models.Index(fields=["tenant", "question_id"], name="usage_tenant_question"),
            models.Index(
                fields=["tenant", "video_id"],
                name="usage_tenant_media",
                condition=models.Q(meter__in=["media_seconds", "live_seconds"]),
            ),
            models.Index(
                fields=["tenant", "reverses_id"],
                name="usage_tenant_reversed",
                condition=models.Q(reverses_id__isnull=False),
            ),
        ]


class ModelCall(TenantRow):
    """One metered call of a model, as the engine's Meter saw it. Divided by the month of called_at."""

    source_type = models.CharField(max_length=32)
    source_id = models.UUIDField()
    ordinal = models.PositiveIntegerField()
    stage = models.CharField(max_length=64)
    model = models.CharField(max_length=200)
    wall_ms = models.PositiveIntegerField()
    # Device time of the call, to the microsecond.
    device_ms = models.DecimalField(max_digits=16, decimal_places=3)
    prompt_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    items = models.PositiveIntegerField(default=1)
    ok = models.BooleanField(default=True)
    # From the begin of the attempt that made the call. Null for work that was recorded without a meter.
    start_ms = models.PositiveIntegerField(null=True)
    called_at = models.DateTimeField(auto_now_add=True)

    class Meta(TenantRow.Meta):
        indexes = [models.Index(fields=["tenant", "source_type", "source_id", "ordinal"], name="model_call_source")]
