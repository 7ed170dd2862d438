"""What must hold of the sums that are kept of the ledger: roll-ups, and the charges that questions and searches show.

Videos, batches and comparisons keep no charge: theirs are added up when they are shown.
"""

from __future__ import annotations

from backend.billing.invariants.ledger import found
from backend.billing.invariants.registry import invariant
from backend.billing.services.usage.rollups import DIMENSIONS

# EXCEPT compares ids that are null as equal, and with ALL an hour that was rolled up twice differs too.
_COLUMNS = ", ".join(DIMENSIONS)
_HOURS = f"""
WITH kept AS (
    SELECT hour, {_COLUMNS}, quantity, events::bigint AS events, cost, price
    FROM billing_usagehour WHERE tenant_id = %(tenant)s AND hour >= date_trunc('hour', %(since)s, 'UTC')
), ledger AS (
    SELECT date_trunc('hour', occurred_at, 'UTC') AS hour, {_COLUMNS}, sum(quantity) AS quantity,
        count(*) AS events, sum(cost_amount) AS cost, sum(price_amount) AS price
    FROM billing_usageevent
    WHERE tenant_id = %(tenant)s AND occurred_at >= date_trunc('hour', %(since)s, 'UTC') GROUP BY hour, {_COLUMNS}
), differing AS (
    SELECT true AS kept, rolled.* FROM (SELECT * FROM kept EXCEPT ALL SELECT * FROM ledger) AS rolled
    UNION ALL
    SELECT false, booked.* FROM (SELECT * FROM ledger EXCEPT ALL SELECT * FROM kept) AS booked
)
SELECT to_char(d.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24') || ' ' || d.meter || ': rolled up '
    || coalesce(sum(d.quantity) FILTER (WHERE d.kept) || ' for ' || sum(d.price) FILTER (WHERE d.kept), 'nothing')
    || ', in the ledger '
    || coalesce(sum(d.quantity) FILTER (WHERE NOT d.kept) || ' for ' || sum(d.price) FILTER (WHERE NOT d.kept),
                'nothing')
FROM differing d
WHERE NOT EXISTS (SELECT FROM billing_stalehour s WHERE s.tenant_id = %(tenant)s AND s.hour = d.hour)
GROUP BY d.hour, d.meter ORDER BY 1 LIMIT 100
"""  # noqa: S608 - names of columns


@invariant("rollups_equal_the_ledger")
def rollups_equal_the_ledger() -> list[str]:
    """The sums of each hour, in every dimension, are those of its ledger rows, unless the hour is marked as stale."""
    return found(_HOURS)


_QUESTIONS = """
SELECT q.id || ': shows a charge of ' || q.charge_amount || ', and the ledger has ' || coalesce(sum(e.price_amount), 0)
FROM questions_question q LEFT JOIN billing_usageevent e
    ON e.tenant_id = q.tenant_id AND e.question_id = q.id AND e.meter = 'questions'
WHERE q.tenant_id = %(tenant)s AND q.created_at >= %(since)s
GROUP BY q.id, q.charge_amount HAVING q.charge_amount <> coalesce(sum(e.price_amount), 0) ORDER BY q.id LIMIT 100
"""


@invariant("questions_show_their_charge")
def questions_show_their_charge() -> list[str]:
    """The charge that a question shows is the sum of its rows in the ledger."""
    return found(_QUESTIONS)


# A search shows what was booked at its end; what staff correct later is on the invoice.
_SEARCHES = """
SELECT s.id || ': shows a charge of ' || s.charge_amount || ', and the ledger has ' || coalesce(sum(e.price_amount), 0)
FROM questions_search s LEFT JOIN billing_usageevent e ON e.tenant_id = s.tenant_id AND e.meter = 'searches'
    AND e.source_type = 'search' AND e.source_id = s.id::text
WHERE s.tenant_id = %(tenant)s AND s.created_at >= %(since)s
GROUP BY s.id, s.charge_amount HAVING s.charge_amount <> coalesce(sum(e.price_amount), 0) ORDER BY s.id LIMIT 100
"""


@invariant("searches_show_their_charge")
def searches_show_their_charge() -> list[str]:
    """The charge that a search shows is that of its row in the ledger."""
    return found(_SEARCHES)


_UNANSWERED = """
SELECT id || ': ' || status || ' (' || finish_reason || '), and charged ' || charge_amount FROM questions_question q
WHERE tenant_id = %(tenant)s AND created_at >= %(since)s AND charge_amount <> 0 AND (
    status IN ('failed', 'canceled')
    OR (status = 'succeeded' AND finish_reason NOT IN ('answered', 'budget'))
    OR (status = 'succeeded' AND finish_reason = 'budget' AND answer = '' AND choice IS NULL))
  AND NOT EXISTS (SELECT FROM billing_reservation r
      WHERE r.tenant_id = q.tenant_id AND r.source_id = q.id AND r.ended = 'charged')
ORDER BY id LIMIT 100
"""


@invariant("unanswered_questions_are_free")
def unanswered_questions_are_free() -> list[str]:
    """A question that was refused, canceled, failed or ended without an answer is not charged.

    Exceptions: its partial answer was shown, or its tenant had no free work left when it ended.
    """
    return found(_UNANSWERED)
