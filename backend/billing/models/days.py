"""What each day cost and earned, and what was used at each price: figures of the console, out of the hours."""

from __future__ import annotations

from django.db import models
from uuid6 import uuid7

from backend.tenancy.models import TenantRow


class Sums(models.Model):
    """Sums of usage. cost: in USD. price: in price_currency. wasted: cost of work that nobody is charged for.

    tokens_in: fresh and cached. events: rows of the ledger.
    """

    price_currency = models.CharField(max_length=3, default="USD")
    cost = models.DecimalField(max_digits=24, decimal_places=10, default=0)
    price = models.DecimalField(max_digits=24, decimal_places=10, default=0)
    wasted = models.DecimalField(max_digits=24, decimal_places=10, default=0)
    media_seconds = models.DecimalField(max_digits=24, decimal_places=6, default=0)
    questions = models.DecimalField(max_digits=24, decimal_places=6, default=0)
    searches = models.DecimalField(max_digits=24, decimal_places=6, default=0)
    tokens_in = models.DecimalField(max_digits=24, decimal_places=6, default=0)
    tokens_out = models.DecimalField(max_digits=24, decimal_places=6, default=0)
    device_seconds = models.DecimalField(max_digits=24, decimal_places=6, default=0)
    events = models.BigIntegerField(default=0)

    class Meta:
        abstract = True


class UsageDay(Sums, TenantRow):
    """The usage of a tenant in one day (UTC), by stage, model and the currency of its prices.

    A trigger adds to it what is added to the hourly roll-ups, and takes away what is taken from them, so it equals
    their sum at every moment.
    """

    day = models.DateField()
    stage = models.CharField(max_length=64, default="", blank=True)
    model = models.CharField(max_length=200, default="", blank=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "day", "stage", "model", "price_currency"], name="usage_day_once")
        ]
        indexes = [models.Index(fields=["day", "tenant"], name="usage_day_of_all")]


class TenantDay(Sums, TenantRow):
    """The usage of a tenant in one day (UTC) by the currency of its prices, kept by the trigger that keeps UsageDay."""

    day = models.DateField()

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "day", "price_currency"], name="tenant_day_once")]
        indexes = [models.Index(fields=["day", "tenant"], name="tenant_day_of_all")]


class DayTotal(Sums):
    """The rows of UsageDay of one day, added up over all tenants by a sweep (services.usage.day_totals)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    day = models.DateField()
    stage = models.CharField(max_length=64, default="", blank=True)
    model = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["day", "stage", "model", "price_currency"], name="day_total_once")
        ]


class StaleDay(models.Model):
    """A day (UTC) whose DayTotal rows miss something of UsageDay. The trigger that keeps UsageDay writes it.

    Several rows may name one day: writers never wait for each other.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    day = models.DateField()


class PricedMonth(TenantRow):
    """The billable usage of a tenant in a calendar month (UTC) that one price valued, kept by a trigger as UsageDay is.

    month: its first day. price: in price_currency.
    """

    month = models.DateField()
    price_id = models.UUIDField()
    meter = models.CharField(max_length=32)
    variant = models.CharField(max_length=100, default="", blank=True)
    model = models.CharField(max_length=200, default="", blank=True)
    price_currency = models.CharField(max_length=3, default="USD")
    quantity = models.DecimalField(max_digits=28, decimal_places=6, default=0)
    price = models.DecimalField(max_digits=24, decimal_places=10, default=0)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "month", "price_id", "meter", "variant", "model", "price_currency"],
                name="priced_month_once",
            )
        ]
        indexes = [models.Index(fields=["month", "tenant"], name="priced_month_of_all")]
