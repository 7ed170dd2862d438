"""What decides that work is billed once: a narrow row per line of the ledger, written before the line."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID, uuid5

from django.db import connection

from backend.tenancy.context import current_tenant_id

# In one order, so that two transactions that bill the same sources never wait for each other in a circle.
_CLAIM = (
    "INSERT INTO billing_billingsource (tenant_id, id) SELECT %(tenant)s, id FROM unnest(%(ids)s::uuid[]) AS id "
    "ORDER BY id ON CONFLICT (tenant_id, id) DO NOTHING RETURNING id"
)
_NAMESPACE = UUID("6f1b7b0e-6f0e-5b0a-9d8e-0a4c1f1f9a51")


def source_key(*parts: str) -> UUID:
    """Return the id of a source: a digest of what it bills, such as its meter, type, id, stage and model."""
    return uuid5(_NAMESPACE, "\0".join(parts))


def claim_sources(keys: Collection[UUID]) -> set[UUID]:
    """Write the sources that the tenant has not billed yet, and return them; inside an open tenant_scope.

    A concurrent transaction that writes one of them waits here until this one has ended.
    """
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, {"tenant": current_tenant_id(), "ids": sorted(set(keys))})
        return {key for (key,) in cursor.fetchall()}
