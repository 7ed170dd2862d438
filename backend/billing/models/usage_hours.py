"""Hourly sums of the usage ledger, and the hours whose sums are out of date."""

from __future__ import annotations

from django.db import models

from backend.billing.models.meters import UsageMeter
from backend.tenancy.models import TenantRow


class UsageHour(TenantRow):
    """The ledger's rows of one hour (UTC) that agree in every dimension, added up. Rebuilt from the ledger at will.

    cost: in the ledger's currency. price: in price_currency. events: number of rows.
    """

    hour = models.DateTimeField()
    meter = models.CharField(max_length=32, choices=UsageMeter.choices)
    variant = models.CharField(max_length=100, default="", blank=True)
    model = models.CharField(max_length=200, default="", blank=True)
    stage = models.CharField(max_length=64, default="", blank=True)
    method = models.CharField(max_length=32, default="", blank=True)
    effort = models.CharField(max_length=16, default="", blank=True)
    profile = models.CharField(max_length=32, default="", blank=True)
    api_key_id = models.UUIDField(null=True)
    person_id = models.UUIDField(null=True)
    collection_id = models.UUIDField(null=True)
    video_id = models.UUIDField(null=True)
    price_id = models.UUIDField(null=True)
    price_currency = models.CharField(max_length=3, default="USD")
    billable = models.BooleanField(default=True)
    quantity = models.DecimalField(max_digits=28, decimal_places=6)
    events = models.PositiveIntegerField()
    cost = models.DecimalField(max_digits=24, decimal_places=10)
    price = models.DecimalField(max_digits=24, decimal_places=10)

    class Meta(TenantRow.Meta):
        indexes = [models.Index(fields=["tenant", "hour"], name="usage_hour_tenant")]


class StaleHour(TenantRow):
    """An hour (UTC) whose UsageHour rows miss rows of the ledger. A trigger of the ledger writes it.

    Several rows may name one hour: writers never wait for each other.
    """

    hour = models.DateTimeField()

    class Meta(TenantRow.Meta):
        indexes = [models.Index(fields=["tenant", "hour"], name="stale_hour_tenant")]


class InvariantResult(models.Model):
    """The outcome of an invariant's last nightly check. violations: over all tenants. examples: some of them."""

    name = models.CharField(primary_key=True, max_length=64)
    checked_at = models.DateTimeField()
    violations = models.PositiveIntegerField()
    examples = models.JSONField(default=list)
