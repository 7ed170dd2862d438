"""Usage of a span, added up by groups: from the hourly roll-ups, and from the ledger where they are out of date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection

from backend.billing.models import UsageMeter
from backend.tenancy.context import current_tenant_id

# Names of the groups of usage, and the expression behind each.
GROUPS: dict[str, str] = {
    "hour": "hour",
    "day": "(hour AT TIME ZONE 'UTC')::date",
    "meter": "shown_meter",
    "video": "video_id",
    "collection": "collection_id",
    "question": "question_id",
    "api_key": "api_key_id",
    "member": "person_id",
    "model": "model",
    "method": "method",
    "effort": "effort",
    "profile": "profile",
    "stage": "stage",
}
# Names of the filters of usage, and the column behind each.
FILTERS: dict[str, str] = {
    "meter": "shown_meter",
    "video_id": "video_id",
    "collection_id": "collection_id",
    "question_id": "question_id",
    "api_key_id": "api_key_id",
    "member_id": "person_id",
    "model": "model",
    "method": "method",
    "billable": "billable",
}

# An exact count of cached tokens would show, token by token, what a model server has read before. Customers see the
# tokens of whole prompts.
SHOWN_METERS = [(value, label) for value, label in UsageMeter.choices if value != UsageMeter.CACHED_TOKENS]


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in one currency."""

    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class UsageLine:
    """Usage of one meter within one group; meters have different units, so their quantities are never added up."""

    group: dict[str, object]
    meter: str
    quantity: Decimal
    events: int
    charge: Money


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of the span from start_at up to end_at, by groups and meters. group_by: names of GROUPS.

    lines: those of one page. next_offset: begin of the next page, None after the last line. charges: of the span, one
    for each currency in which the tenant was charged.
    """

    start_at: datetime
    end_at: datetime
    group_by: tuple[str, ...]
    lines: tuple[UsageLine, ...]
    next_offset: int | None
    charges: tuple[Money, ...]


_DIMENSIONS = (
    "meter, model, stage, method, effort, profile, api_key_id, person_id, collection_id, video_id, price_currency, "
    "billable"
)
# Whole hours come from the roll-ups, unless the ledger has grown in them; the edges of the span and stale hours come
# from the ledger. One statement, so one snapshot: a row is counted exactly once.
_ROWS = f"""
WITH live AS MATERIALIZED (
    SELECT DISTINCT hour AS begun, hour + interval '1 hour' AS ended FROM billing_stalehour
    WHERE tenant_id = %(tenant)s AND hour >= %(first)s AND hour < %(last)s
    UNION ALL SELECT begun, ended FROM unnest(%(begun)s::timestamptz[], %(ended)s::timestamptz[]) AS edge (begun, ended)
), usage AS (
    SELECT hour, {_DIMENSIONS}, NULL::uuid AS question_id, quantity, events::bigint AS events, price
    FROM billing_usagehour u WHERE tenant_id = %(tenant)s AND hour >= %(first)s AND hour < %(last)s
      AND NOT EXISTS (SELECT FROM live WHERE live.begun = u.hour)
    UNION ALL
    SELECT date_trunc('hour', occurred_at, 'UTC'), {_DIMENSIONS}, question_id, quantity, 1, price_amount
    FROM live JOIN billing_usageevent ON tenant_id = %(tenant)s
      AND occurred_at >= live.begun AND occurred_at < live.ended
), shown AS (
    SELECT *, CASE meter WHEN 'cached_tokens' THEN 'input_tokens' ELSE meter END AS shown_meter FROM usage
)
"""  # noqa: S608 - names of columns


def usage(
    *,
    start: datetime,
    end: datetime,
    group_by: Sequence[str],
    filters: Mapping[str, Any] | None = None,
    offset: int = 0,
    limit: int,
) -> Usage:
    """Return quantities and charges per group and meter, in the order of the groups.

    group_by: names of GROUPS. filters: values by names of FILTERS. offset, limit: the lines that are returned.
    """
    filters = filters or {}
    parameters = {
        "tenant": current_tenant_id(),
        **_span(start, end, "question" in group_by or "question_id" in filters),
    }
    where = " AND ".join(f"{FILTERS[name]} = %(filter_{name})s" for name in filters) or "true"
    parameters |= {f"filter_{name}": value for name, value in filters.items()}
    columns = list(dict.fromkeys([*(GROUPS[name] for name in group_by), "shown_meter", "price_currency"]))
    numbers = ", ".join(str(n + 1) for n in range(len(columns)))
    order = ", ".join(f"{n + 1} NULLS LAST" for n in range(len(columns)))
    with connection.cursor() as cursor:
        # Names out of GROUPS and FILTERS; every value is bound.
        summed = "sum(quantity), coalesce(sum(events) FILTER (WHERE meter <> 'cached_tokens'), 0)::bigint, sum(price)"
        page = f"GROUP BY {numbers} ORDER BY {order} OFFSET %(offset)s LIMIT %(limit)s"
        cursor.execute(
            f"{_ROWS} SELECT {', '.join(columns)}, {summed} FROM shown WHERE {where} {page}",  # noqa: S608
            {**parameters, "offset": offset, "limit": limit + 1},
        )
        rows = cursor.fetchall()
        cursor.execute(
            f"{_ROWS} SELECT sum(price), price_currency FROM shown WHERE {where} GROUP BY 2 ORDER BY 2",  # noqa: S608
            parameters,
        )
        charges = tuple(Money(amount, currency) for amount, currency in cursor.fetchall())
    lines = tuple(_line(dict(zip(columns, row, strict=False)), row[-3:], group_by) for row in rows[:limit])
    return Usage(start, end, tuple(group_by), lines, offset + limit if len(rows) > limit else None, charges)


def _line(values: Mapping[str, Any], sums: Sequence[Any], group_by: Sequence[str]) -> UsageLine:
    quantity, events, price = sums
    return UsageLine(
        group={name: values[GROUPS[name]] for name in group_by},
        meter=values["shown_meter"],
        quantity=quantity,
        events=events,
        charge=Money(price, values["price_currency"]),
    )


def _span(start: datetime, end: datetime, from_ledger: bool) -> dict[str, Any]:
    """Return the whole hours of a span, and its edges. from_ledger: everything is read from the ledger."""
    first, last = _hour_at_or_after(start), _hour_of(end)
    if from_ledger or first >= last:
        return {"first": start, "last": start, "begun": [start], "ended": [end]}
    edges = [(begun, ended) for begun, ended in ((start, first), (last, end)) if begun < ended]
    return {
        "first": first, "last": last, "begun": [begun for begun, _ in edges], "ended": [ended for _, ended in edges],
    }  # fmt: skip


def _hour_of(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _hour_at_or_after(at: datetime) -> datetime:
    begun = _hour_of(at)
    return begun if begun == at else begun + timedelta(hours=1)
