"""What each day cost and earned: the figures of the console, summed out of the hourly roll-ups."""

from __future__ import annotations

from django.db import models

from backend.tenancy.models import TenantRow


class UsageDay(TenantRow):
    """The usage of a tenant in one day (UTC), by stage, model and the currency of its prices.

    A trigger adds to it what is added to the hourly roll-ups, and takes away what is taken from them, so it equals
    their sum at every moment. cost: in USD. price: in price_currency. wasted: cost of work that nobody is charged for.
    tokens_in: fresh and cached. events: rows of the ledger.
    """

    day = models.DateField()
    stage = models.CharField(max_length=64, default="", blank=True)
    model = models.CharField(max_length=200, default="", blank=True)
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

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "day", "stage", "model", "price_currency"], name="usage_day_once")
        ]
        indexes = [models.Index(fields=["day", "tenant"], name="usage_day_of_all")]
