"""What must hold of quotas: the counters are the ledger's sums, and a reservation draws what the ledger has booked."""

from __future__ import annotations

from backend.billing.invariants.ledger import found
from backend.billing.invariants.registry import invariant

# Months that lie whole in the span that is checked.
_COUNTERS = """
WITH ledger AS (
    SELECT date_trunc('month', occurred_at AT TIME ZONE 'UTC')::date AS month, key,
        price_currency AS currency, sum(quantity) FILTER (WHERE billable AND meter = 'questions') AS questions,
        sum(quantity) FILTER (WHERE billable AND meter IN ('media_seconds', 'live_seconds')) AS media,
        sum(price_amount) AS charge
    FROM billing_usageevent
    CROSS JOIN LATERAL (SELECT NULL::uuid AS key UNION ALL SELECT api_key_id WHERE api_key_id IS NOT NULL) keys
    WHERE tenant_id = %(tenant)s AND (price_amount <> 0
        OR meter IN ('questions', 'searches', 'media_seconds', 'live_seconds'))
      AND date_trunc('month', occurred_at AT TIME ZONE 'UTC') >= %(since)s AT TIME ZONE 'UTC'
    GROUP BY 1, 2, 3
), counted AS (
    SELECT * FROM billing_quotamonth WHERE tenant_id = %(tenant)s AND month >= (%(since)s AT TIME ZONE 'UTC')
)
SELECT to_char(coalesce(l.month, c.month), 'YYYY-MM') || ' of ' || coalesce(coalesce(l.key, c.api_key_id)::text, 'all')
    || ' in ' || coalesce(l.currency, c.currency)
    || ': counted ' || concat_ws(', ', c.questions, c.media_seconds, c.charge) || ', in the ledger '
    || concat_ws(', ', l.questions, l.media, l.charge)
FROM ledger l FULL JOIN counted c ON c.month = l.month AND c.currency = l.currency
    AND coalesce(c.api_key_id, '00000000-0000-0000-0000-000000000000')
      = coalesce(l.key, '00000000-0000-0000-0000-000000000000')
WHERE (coalesce(l.questions, 0), coalesce(l.media, 0), coalesce(l.charge, 0))
   <> (coalesce(c.questions, 0), coalesce(c.media_seconds, 0), coalesce(c.charge, 0))
ORDER BY 1 LIMIT 100
"""


@invariant("quota_counters_equal_the_ledger")
def quota_counters_equal_the_ledger() -> list[str]:
    """The counters of each month and currency, of the tenant and of each key, are the sums of the ledger's rows."""
    return found(_COUNTERS)


_LEFT_OPEN = """
SELECT r.source_type || ' ' || r.source_id || ': holds ' || r.amount || ' ' || r.kind || ' after its end'
FROM billing_reservation r
WHERE r.tenant_id = %(tenant)s AND r.created_at >= %(since)s AND r.settled_at IS NULL AND r.expires_at > now()
  AND CASE r.source_type
    WHEN 'question' THEN NOT EXISTS (SELECT FROM questions_question q WHERE q.tenant_id = r.tenant_id
        AND q.id = r.source_id AND q.status IN ('queued', 'running'))
    WHEN 'search' THEN NOT EXISTS (SELECT FROM questions_search s WHERE s.tenant_id = r.tenant_id
        AND s.id = r.source_id AND s.status IN ('queued', 'running'))
    WHEN 'upload' THEN NOT EXISTS (SELECT FROM library_upload u WHERE u.tenant_id = r.tenant_id
        AND u.id = r.source_id AND u.status = 'open')
    WHEN 'piece' THEN NOT EXISTS (SELECT FROM library_inputsegment i WHERE i.tenant_id = r.tenant_id
        AND i.id = r.source_id AND i.start_ms IS NULL)
    ELSE NOT EXISTS (SELECT FROM library_video v WHERE v.tenant_id = r.tenant_id AND v.id = r.source_id
        AND (v.status IN ('queued', 'probing', 'indexing')
             OR (v.status = 'ready' AND v.building_index_version <> v.active_index_version)
             OR EXISTS (SELECT FROM library_indexversion b WHERE b.tenant_id = v.tenant_id AND b.video_id = v.id
                 AND b.state = 'building')))
  END
ORDER BY 1 LIMIT 100
"""


@invariant("open_reservations_have_open_work")
def open_reservations_have_open_work() -> list[str]:
    """Whoever holds a part of a quota is work that is still open."""
    return found(_LEFT_OPEN)
