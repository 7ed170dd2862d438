"""The charges that questions show, where rows of the ledger are taken back or booked again later.

Questions and videos belong to apps above, so their tables are named in SQL. Whoever takes rows back locks the work
first, as the end of the work does: the rows that stand then cannot change until the commit.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from backend.billing.models import UsageEvent, UsageMeter
from backend.tenancy.context import current_tenant_id

_WORK = (
    ("questions_question", "question_id", [UsageMeter.QUESTIONS]),
    ("library_video", "video_id", [UsageMeter.MEDIA_SECONDS, UsageMeter.LIVE_SECONDS]),
)


def lock_work(rows: QuerySet[UsageEvent]) -> None:
    """Lock the questions and the videos that rows of the ledger charge, in the order of their ids."""
    for table, column, meters in _WORK:
        ids, parameters = rows.filter(meter__in=meters).order_by().values(column).query.sql_with_params()
        statement = f"SELECT id FROM {table} WHERE tenant_id = %s AND id IN ({ids}) ORDER BY id FOR NO KEY UPDATE"  # noqa: S608 - a table of _WORK
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM ({statement}) locked", [current_tenant_id(), *parameters])  # noqa: S608


_SHOW = """
UPDATE questions_question q
SET charge_amount = booked.amount, charge_currency = coalesce(booked.currency, q.charge_currency),
    price_version = booked.version
FROM (
    SELECT e.question_id, sum(e.price_amount) AS amount,
        max(e.price_currency) FILTER (WHERE e.reverses_id IS NULL AND r.id IS NULL) AS currency,
        max(e.price_version) FILTER (WHERE e.reverses_id IS NULL AND r.id IS NULL) AS version
    FROM billing_usageevent e
    LEFT JOIN billing_usageevent r ON r.tenant_id = e.tenant_id AND r.reverses_id = e.id
    WHERE e.tenant_id = %(tenant)s AND e.meter = 'questions' AND e.question_id = ANY(%(ids)s::uuid[])
    GROUP BY e.question_id
) booked
WHERE q.tenant_id = %(tenant)s AND q.id = booked.question_id
"""


def show_charges(question_ids: Collection[UUID]) -> None:
    """Set the charges that locked questions show to those of the ledger."""
    if question_ids:
        with connection.cursor() as cursor:
            cursor.execute(_SHOW, {"tenant": current_tenant_id(), "ids": list(question_ids)})
