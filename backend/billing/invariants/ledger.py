"""What must hold of the ledger's rows: prices, reversals, waste, and the model calls behind them."""

from __future__ import annotations

from datetime import timedelta

from django.db import connection
from django.utils import timezone

from backend.billing.invariants.registry import invariant
from backend.billing.queries.ledger import mismatches
from backend.billing.rates import plain
from backend.tenancy.context import current_tenant_id

CHECKED_FOR = timedelta(days=62)
"""Age up to which rows are checked every night: the open month and the one before. An older row never changes."""


def found(statement: str) -> list[str]:
    """Return the sentences that a statement selects. It may bind tenant and since."""
    with connection.cursor() as cursor:
        cursor.execute(statement, {"tenant": current_tenant_id(), "since": timezone.now() - CHECKED_FOR})
        return [text for (text,) in cursor.fetchall()]


@invariant("ledger_equals_model_calls")
def ledger_equals_model_calls() -> list[str]:
    """Usage of a piece of work = sum of its model calls."""
    return [
        f"{fault.source_type} {fault.source_id}: {fault.meter} billed {plain(fault.billed)}, "
        f"metered {plain(fault.metered)}"
        for fault in mismatches()
    ]


_AMOUNTS = """
SELECT e.id || ': ' || what.name || ' is ' || what.amount || ', and ' || coalesce(
    (p.unit_amount * e.quantity)::text || ' by its price', 'its price is in no book')
FROM billing_usageevent e
CROSS JOIN LATERAL (VALUES
    ('cost', e.cost_price_id, e.cost_amount, NULL::int),
    ('price', e.price_id, e.price_amount, e.price_version)) AS what (name, price_id, amount, version)
LEFT JOIN billing_price p ON p.id = what.price_id
WHERE e.tenant_id = %(tenant)s AND e.occurred_at >= %(since)s AND CASE
    WHEN what.price_id IS NULL THEN what.amount <> 0
    WHEN p.id IS NULL THEN true
    -- An amount is rounded to ten digits once.
    ELSE abs(what.amount - p.unit_amount * e.quantity) > 0.00000000005
        OR coalesce(what.version, p.version) <> p.version END
ORDER BY e.id LIMIT 100
"""


@invariant("amounts_follow_prices")
def amounts_follow_prices() -> list[str]:
    """Every amount is the unit amount of the price that the row names times its quantity."""
    return found(_AMOUNTS)


_BILLABLE = """
SELECT id || ': ' || CASE WHEN billable THEN 'billable, and names no price'
    WHEN reason = '' THEN 'not billable, without a reason' ELSE 'not billable, and has a price' END
FROM billing_usageevent
WHERE tenant_id = %(tenant)s AND occurred_at >= %(since)s AND (
    (billable AND price_id IS NULL) OR (NOT billable AND (reason = '' OR price_amount <> 0 OR price_id IS NOT NULL)))
ORDER BY id LIMIT 100
"""


@invariant("billable_rows_name_a_price")
def billable_rows_name_a_price() -> list[str]:
    """A billable row names its price; any other has a reason and no price."""
    return found(_BILLABLE)


_REVERSALS = """
SELECT text FROM (
    SELECT r.id, r.id || CASE WHEN o.id IS NULL THEN ': takes back a row that does not exist'
        ELSE ': does not negate ' || o.id END AS text
    FROM billing_usageevent r LEFT JOIN billing_usageevent o ON o.tenant_id = r.tenant_id AND o.id = r.reverses_id
    WHERE r.tenant_id = %(tenant)s AND r.occurred_at >= %(since)s AND r.reverses_id IS NOT NULL
      AND (o.id IS NULL OR r.quantity <> -o.quantity OR r.cost_amount <> -o.cost_amount
           OR r.price_amount <> -o.price_amount OR r.meter <> o.meter OR r.price_id IS DISTINCT FROM o.price_id)
    UNION ALL
    SELECT reverses_id, reverses_id || ': taken back ' || count(*) || ' times'
    FROM billing_usageevent WHERE tenant_id = %(tenant)s AND reverses_id IS NOT NULL
    GROUP BY reverses_id HAVING count(*) > 1
) AS faults ORDER BY id LIMIT 100
"""


@invariant("reversals_negate_once")
def reversals_negate_once() -> list[str]:
    """A row that takes another one back negates it exactly, and no row is taken back twice."""
    return found(_REVERSALS)


_TWICE = """
SELECT meter || ' of ' || source_type || ' ' || source_id || ': booked ' || count(*) || ' times'
FROM billing_usageevent WHERE tenant_id = %(tenant)s AND occurred_at >= %(since)s
GROUP BY meter, source_type, source_id, stage, model HAVING count(*) > 1 ORDER BY 1 LIMIT 100
"""


@invariant("work_is_billed_once")
def work_is_billed_once() -> list[str]:
    """No line of a piece of work is in the ledger twice."""
    return found(_TWICE)


_WASTE = """
SELECT id || ': waste that is charged' FROM billing_usageevent
WHERE tenant_id = %(tenant)s AND occurred_at >= %(since)s AND source_type = 'wasted_attempt'
  AND (billable OR price_amount <> 0) ORDER BY id LIMIT 100
"""


@invariant("waste_is_never_charged")
def waste_is_never_charged() -> list[str]:
    """Attempts that were thrown away have a cost and no price."""
    return found(_WASTE)
