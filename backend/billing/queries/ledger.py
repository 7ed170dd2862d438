"""Reads of the usage ledger, and the check that it agrees with the model calls behind it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connections
from django.db.models import Case, DecimalField, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from backend.billing.models import QUESTION, UsageEvent, UsageMeter
from backend.billing.rates import Cost
from backend.tenancy.months import month_after

_CACHED = Q(meter=UsageMeter.CACHED_TOKENS)
_SHOWN_METER = Case(When(_CACHED, then=Value(UsageMeter.INPUT_TOKENS.value)), default=F("meter"))


_FILTERS = {
    "video_id": "video_id", "question_id": "question_id", "collection_id": "collection_id",
    "api_key_id": "api_key_id", "member_id": "person_id", "model": "model", "method": "method", "billable": "billable",
}  # fmt: skip


def events(*, start: datetime, end: datetime, meter: str = "", **filters: Any) -> QuerySet[UsageEvent]:
    """Return the ledger rows of the entered tenant with start <= occurred_at < end, as customers see them.

    meter: one of SHOWN_METERS; "" restricts nothing. filters: values by the names of _FILTERS. The rows of a call's
    fresh and cached prompt tokens are one: shown_meter, shown_quantity and shown_price take the place of the columns.
    """
    same = {name: OuterRef(name) for name in ("tenant_id", "occurred_at", "source_type", "source_id", "stage", "model")}
    cached = UsageEvent.objects.filter(_CACHED, **same)
    fresh = UsageEvent.objects.filter(meter=UsageMeter.INPUT_TOKENS, **same)
    rows = _between(start, end).filter(~_CACHED | ~Exists(fresh))
    rows = rows.filter(**{_FILTERS[name]: value for name, value in filters.items()})
    if meter:
        meters = [meter, UsageMeter.CACHED_TOKENS] if meter == UsageMeter.INPUT_TOKENS else [meter]
        rows = rows.filter(meter__in=meters)
    shown = {
        f"shown_{name}": F(column)
        + Case(
            When(meter=UsageMeter.INPUT_TOKENS, then=Coalesce(Subquery(cached.values(column)[:1]), Decimal(0))),
            default=Decimal(0),
            output_field=DecimalField(),
        )
        for name, column in (("quantity", "quantity"), ("price", "price_amount"))
    }
    return rows.annotate(shown_meter=_SHOWN_METER, **shown)


def event(event_id: UUID) -> QuerySet[UsageEvent]:
    """Return the row with this id as events() does; nothing if the entered tenant has no such row."""
    at = UsageEvent.objects.filter(id=event_id).values_list("occurred_at", flat=True).first()
    if at is None:
        return UsageEvent.objects.none()
    return events(start=at, end=at + timedelta(microseconds=1)).filter(id=event_id)


def _between(start: datetime, end: datetime) -> QuerySet[UsageEvent]:
    rows: QuerySet[UsageEvent] = UsageEvent.objects.filter(occurred_at__gte=start, occurred_at__lt=end)
    return rows


def cost_of_question(question_id: UUID, *, using: str = "default") -> Cost:
    """Return all that the ledger attributes to a question: its charge, its answer and discarded attempts.

    using: as in mismatches().
    """
    return _total(_rows(using).filter(question_id=question_id))


def cost_of_video(video_id: UUID, *, using: str = "default") -> Cost:
    """Return all that the ledger attributes to the index of a video, discarded attempts included.

    using: as in mismatches().
    """
    return _total(_rows(using).filter(video_id=video_id))


def _rows(using: str) -> QuerySet[UsageEvent]:
    return UsageEvent.objects.all() if using == "default" else UsageEvent.unscoped.using(using)


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
    SELECT c.tenant_id, c.source_type, c.source_id::text AS source_id, m.meter, sum(m.quantity) AS quantity,
        min(c.called_at) AS first
    FROM billing_modelcall c
    CROSS JOIN LATERAL (VALUES
        ('input_tokens', (c.prompt_tokens - least(c.cached_tokens, c.prompt_tokens))::numeric),
        ('cached_tokens', least(c.cached_tokens, c.prompt_tokens)::numeric),
        ('output_tokens', c.completion_tokens::numeric),
        ('device_seconds', c.device_ms / 1000.0)
    ) AS m (meter, quantity)
    WHERE c.called_at >= %(since)s AND (%(source_type)s::text IS NULL OR c.source_type = %(source_type)s)
      AND (%(source_id)s::uuid IS NULL OR c.source_id = %(source_id)s)
    GROUP BY 1, 2, 3, 4
), billed AS (
    -- The failed calls of a source are booked apart: "question:0193…" of failed_calls belongs to the question.
    SELECT tenant_id, CASE source_type WHEN 'failed_calls' THEN split_part(source_id, ':', 1) ELSE source_type END
            AS source_type,
        CASE source_type WHEN 'failed_calls' THEN split_part(source_id, ':', 2) ELSE source_id END AS source_id,
        meter, sum(quantity) AS quantity, min(occurred_at) AS first
    FROM billing_usageevent
    WHERE meter = ANY(%(meters)s) AND occurred_at >= %(since)s
      AND (%(source_type)s::text IS NULL OR source_type = %(source_type)s
           OR (source_type = 'failed_calls' AND source_id LIKE %(source_type)s || ':%%'))
      AND (%(source_id)s::uuid IS NULL
           OR source_id IN (%(source_id)s::uuid::text, %(source_type)s || ':' || %(source_id)s::uuid::text))
    GROUP BY 1, 2, 3, 4
)
SELECT tenant_id, source_type, source_id, meter, coalesce(b.quantity, 0), coalesce(m.quantity, 0)
FROM metered m FULL JOIN billed b USING (tenant_id, source_type, source_id, meter)
WHERE coalesce(b.quantity, 0) <> coalesce(m.quantity, 0)
  -- Work recorded as the oldest kept month began may have its calls in the month before.
  AND least(b.first, m.first) >= %(since)s::timestamptz + interval '1 day'
ORDER BY 1, 2, 3, 4
"""
_CALL_METERS = [UsageMeter.INPUT_TOKENS, UsageMeter.CACHED_TOKENS, UsageMeter.OUTPUT_TOKENS, UsageMeter.DEVICE_SECONDS]


def calls_kept_since() -> datetime:
    """Return the first day of the oldest month whose model calls are kept."""
    return month_after(timezone.now() - timedelta(days=settings.KEEP_MODEL_CALLS_DAYS), 0)


def mismatches(
    *, using: str = "default", source_type: str | None = None, source_id: UUID | None = None
) -> list[Mismatch]:
    """Return every source whose usage is not the sum of its model calls; empty when the ledger is sound.

    Only what is younger than the kept model calls can be checked.

    using: "default" reads the entered tenant, "console" all tenants, as `manage.py check_ledger` does.
    """
    since = calls_kept_since()
    meters = [meter.value for meter in _CALL_METERS]
    parameters = {"source_type": source_type, "source_id": source_id, "meters": meters, "since": since}
    with connections[using].cursor() as cursor:
        cursor.execute(_MISMATCHES, parameters)
        return [Mismatch(*row) for row in cursor.fetchall()]


def question_mismatches(question_id: UUID, *, using: str = "default") -> list[Mismatch]:
    """Return mismatches() of one question's answer."""
    return mismatches(using=using, source_type=QUESTION, source_id=question_id)
