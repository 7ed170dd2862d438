"""Reads of the usage ledger, and the check that it agrees with the model calls behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db import connections
from django.db.models import Count, F, QuerySet, Sum
from django.db.models.functions import TruncDate

from backend.billing.models import Meter, UsageEvent
from backend.billing.services.ledger import QUESTION, Cost

# What usage may be grouped by, and the column behind each.
GROUPS: dict[str, str] = {
    "day": "day",
    "meter": "meter",
    "video": "video_id",
    "question": "question_id",
    "api_key": "api_key_id",
    "model": "model",
    "stage": "stage",
}


@dataclass(frozen=True, slots=True)
class UsageLine:
    """Usage of one meter within one group; meters have different units, so they are never added up."""

    group: dict[str, object]
    meter: str
    quantity: Decimal
    events: int
    cost: Decimal
    price: Decimal


def events_between(start: datetime, end: datetime) -> QuerySet[UsageEvent]:
    """Ledger rows of the entered tenant with start <= occurred_at < end."""
    return UsageEvent.objects.filter(occurred_at__gte=start, occurred_at__lt=end)


def usage(*, start: datetime, end: datetime, group_by: Sequence[str]) -> list[UsageLine]:
    """Quantities, cost and price per group and meter, in the order of the groups. group_by: names of GROUPS."""
    columns = [GROUPS[name] for name in group_by]
    rows = (
        events_between(start, end)
        .annotate(day=TruncDate("occurred_at"))
        .values(*dict.fromkeys([*columns, "meter"]))
        .annotate(total=Sum("quantity"), events=Count("id"), cost=Sum("cost_amount"), price=Sum("price_amount"))
        .order_by(*[F(column).asc(nulls_last=True) for column in dict.fromkeys([*columns, "meter"])])
    )
    return [
        UsageLine(
            group={name: row[GROUPS[name]] for name in group_by},
            meter=row["meter"],
            quantity=row["total"],
            events=row["events"],
            cost=row["cost"],
            price=row["price"],
        )
        for row in rows
    ]


def cost_of_question(question_id: UUID) -> Cost:
    """All that the ledger attributes to a question: its charge, its answer and attempts that were thrown away."""
    return _total(UsageEvent.objects.filter(question_id=question_id))


def cost_of_video(video_id: UUID) -> Cost:
    return _total(UsageEvent.objects.filter(video_id=video_id))


def _total(events: QuerySet[UsageEvent]) -> Cost:
    total = events.aggregate(cost=Sum("cost_amount", default=Decimal(0)), price=Sum("price_amount", default=Decimal(0)))
    return Cost(amount=total["cost"], price=total["price"])


# --- invariant: usage of a source = sum of its model calls ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One meter of one piece of work whose ledger quantity is not the sum of its model calls."""

    tenant_id: UUID
    source_type: str
    source_id: str
    meter: str
    billed: Decimal
    metered: Decimal


_MISMATCHES = """
WITH metered AS (
    SELECT c.tenant_id, c.source_type, c.source_id::text AS source_id, m.meter, sum(m.quantity) AS quantity
    FROM billing_modelcall c
    CROSS JOIN LATERAL (VALUES
        ('input_tokens', (c.prompt_tokens - least(c.cached_tokens, c.prompt_tokens))::numeric),
        ('cached_tokens', least(c.cached_tokens, c.prompt_tokens)::numeric),
        ('output_tokens', c.completion_tokens::numeric),
        ('device_seconds', c.wall_ms / 1000.0)
    ) AS m (meter, quantity)
    WHERE (%(source_type)s::text IS NULL OR c.source_type = %(source_type)s)
      AND (%(source_id)s::uuid IS NULL OR c.source_id = %(source_id)s)
    GROUP BY 1, 2, 3, 4
), billed AS (
    SELECT tenant_id, source_type, source_id, meter, sum(quantity) AS quantity
    FROM billing_usageevent
    WHERE meter = ANY(%(meters)s)
      AND (%(source_type)s::text IS NULL OR source_type = %(source_type)s)
      AND (%(source_id)s::uuid IS NULL OR source_id = %(source_id)s::uuid::text)
    GROUP BY 1, 2, 3, 4
)
SELECT tenant_id, source_type, source_id, meter, coalesce(b.quantity, 0), coalesce(m.quantity, 0)
FROM metered m FULL JOIN billed b USING (tenant_id, source_type, source_id, meter)
WHERE coalesce(b.quantity, 0) <> coalesce(m.quantity, 0)
ORDER BY 1, 2, 3, 4
"""
_CALL_METERS = [Meter.INPUT_TOKENS, Meter.CACHED_TOKENS, Meter.OUTPUT_TOKENS, Meter.DEVICE_SECONDS]


def mismatches(
    *, using: str = "default", source_type: str | None = None, source_id: UUID | None = None
) -> list[Mismatch]:
    """Every source whose usage is not the sum of its model calls; empty when the ledger is sound.

    using: "default" sees the entered tenant, "console" all tenants (the check that runs in production).
    """
    parameters = {"source_type": source_type, "source_id": source_id, "meters": [meter.value for meter in _CALL_METERS]}
    with connections[using].cursor() as cursor:
        cursor.execute(_MISMATCHES, parameters)
        return [Mismatch(*row) for row in cursor.fetchall()]


def question_mismatches(question_id: UUID, *, using: str = "default") -> list[Mismatch]:
    """mismatches() of one question's answer."""
    return mismatches(using=using, source_type=QUESTION, source_id=question_id)
