"""The ticket of a tenant's erasure: it opens the certificate when no key and no member of the tenant is left.

Signed and not stored, because nothing of the tenant stays in the database. It opens one thing: how far the erasure is.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.core import signing

LIFETIME = timedelta(days=400)
PREFIX = "era_"
_SALT = "backend.erasure.ticket"


def ticket_of(tenant_id: UUID) -> str:
    """Return a new ticket."""
    return PREFIX + signing.dumps(str(tenant_id), salt=_SALT)


def tenant_of(ticket: str) -> UUID | None:
    """Return the tenant of a ticket; None for one that is forged, altered or older than LIFETIME."""
    if not ticket.startswith(PREFIX):
        return None
    try:
        return UUID(signing.loads(ticket.removeprefix(PREFIX), salt=_SALT, max_age=LIFETIME))
    except signing.BadSignature:
        return None
