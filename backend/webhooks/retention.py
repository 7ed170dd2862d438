"""How long deliveries are kept, with their attempts, and events, with their bodies: as long as the history of jobs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import connections
from django.utils import timezone

from backend.jobs.retention import BATCH, kept_for

# By id, which begins with the time at which the row was made, and which the primary key's index has.
_DELIVERIES = """
DELETE FROM webhooks_delivery USING (
    SELECT tenant_id, id FROM webhooks_delivery WHERE id < %(oldest)s AND state <> 'pending'
    ORDER BY id LIMIT %(batch)s
) old WHERE webhooks_delivery.tenant_id = old.tenant_id AND webhooks_delivery.id = old.id
"""
# The last event of each kind of change stays: it shows that the change was announced.
_EVENTS = """
DELETE FROM webhooks_webhookevent USING (
    SELECT tenant_id, id FROM webhooks_webhookevent event WHERE id < %(oldest)s
        AND NOT EXISTS (SELECT FROM webhooks_delivery d WHERE d.tenant_id = event.tenant_id AND d.event_id = event.id)
        AND EXISTS (SELECT FROM webhooks_webhookevent later WHERE later.tenant_id = event.tenant_id
            AND later.resource_id = event.resource_id AND later.type = event.type AND later.sequence > event.sequence)
    ORDER BY id LIMIT %(batch)s
) old WHERE webhooks_webhookevent.tenant_id = old.tenant_id AND webhooks_webhookevent.id = old.id
"""


def forget_old_deliveries() -> int:
    """Delete up to BATCH deliveries of all tenants that ended, and up to BATCH events without deliveries.

    Runs as the dispatch role. Returns the number of rows, without attempts.
    """
    milliseconds = int((timezone.now() - kept_for()).timestamp() * 1000)
    parameters: dict[str, Any] = {"oldest": UUID(int=milliseconds << 80), "batch": BATCH}
    deleted = 0
    for statement in (_DELIVERIES, _EVENTS):
        with connections["dispatch"].cursor() as cursor:
            cursor.execute(statement, parameters)
            deleted += cursor.rowcount
    return deleted
