"""What a tenant may consume, what its open work has reserved, and what the ledger has booked of it this month."""

from __future__ import annotations

from django.db import models

from backend.tenancy.models import TenantRow


class Reserved(models.TextChoices):
    """What an open piece of work consumes one or more of: the meter that the ledger books it by."""

    QUESTIONS = "questions"
    SEARCHES = "searches"
    MEDIA_SECONDS = "media_seconds"


class Ended(models.TextChoices):
    """How a question or a search ended, for its money.

    FREE: it was begun, and ended by the customer's own act or without an answer. VOID: it was not begun,
    or failed by a fault of ours.
    """

    CHARGED = "charged"
    FREE = "free"
    VOID = "void"


class Reservation(TenantRow):
    """What one open piece of work may still consume: amount units of kind, for a charge in currency at most.

    Row of a question, a search, an open upload, an appended piece that is not measured yet, or a video that is being
    indexed. A trigger of the ledger adds what is booked for source_id to drawn_amount and drawn_charge when a
    transaction commits, so that nothing is counted twice. A row that is booked in another currency draws no charge.
    A reservation without settled_at holds its rest until expires_at. again: whether the work is a retry. ended: of a
    question or a search; the sums of the last hour bound what ends free (services.limits.free_work).
    """

    kind = models.CharField(max_length=16, choices=Reserved.choices)
    amount = models.DecimalField(max_digits=24, decimal_places=6)
    charge = models.DecimalField(max_digits=20, decimal_places=10, default=0)
    currency = models.CharField(max_length=3, default="USD")
    drawn_amount = models.DecimalField(max_digits=24, decimal_places=6, default=0)
    drawn_charge = models.DecimalField(max_digits=20, decimal_places=10, default=0)
    api_key_id = models.UUIDField(null=True)
    source_type = models.CharField(max_length=32)
    source_id = models.UUIDField()
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)
    again = models.BooleanField(default=False)
    ended = models.CharField(max_length=8, choices=Ended.choices, default="", blank=True)

    class Meta(TenantRow.Meta):
        indexes = [
            models.Index(
                fields=["tenant", "settled_at"],
                name="reservation_ended",
                condition=models.Q(ended__in=["charged", "free"]),
            ),
            models.Index(fields=["tenant", "created_at"], name="reservation_again", condition=models.Q(again=True)),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "source_id"], condition=models.Q(settled_at=None), name="reservation_open_once"
            ),
            models.CheckConstraint(condition=models.Q(amount__gte=0, charge__gte=0), name="reservation_not_negative"),
        ]


class QuotaMonth(TenantRow):
    """What the ledger booked in one calendar month (UTC) and currency: for the tenant, and for each API key.

    api_key_id is null in the tenant's own rows, which count all keys and people. A trigger of the ledger adds to them
    when a transaction commits, as to UsageMonth. charge: list prices, in currency. A month has rows in two currencies
    if the plan of the tenant has changed.
    """

    month = models.DateField()
    api_key_id = models.UUIDField(null=True)
    questions = models.DecimalField(max_digits=24, decimal_places=6, default=0)
    media_seconds = models.DecimalField(max_digits=24, decimal_places=6, default=0)
    charge = models.DecimalField(max_digits=24, decimal_places=10, default=0)
    currency = models.CharField(max_length=3, default="USD")

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "month", "api_key_id", "currency"], nulls_distinct=False, name="quota_month_once"
            )
        ]


class Budget(TenantRow):
    """Limits that a tenant sets for itself, or for one of its API keys. Null is no limit.

    Per calendar month (UTC), except retries, which are those of an hour, and open_jobs and stored_bytes, which hold at
    any moment. api_key_id is null for the
    tenant as a whole. charge holds while the tenant's plan has its currency; under any other one it is suspended.
    """

    api_key_id = models.UUIDField(null=True)
    charge = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    currency = models.CharField(max_length=3, default="USD")
    questions = models.PositiveBigIntegerField(null=True)
    media_minutes = models.DecimalField(max_digits=16, decimal_places=3, null=True)
    open_jobs = models.PositiveIntegerField(null=True)
    retries = models.PositiveIntegerField(null=True)
    stored_bytes = models.PositiveBigIntegerField(null=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "api_key_id"], nulls_distinct=False, name="budget_once")
        ]
