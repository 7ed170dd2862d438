"""Links whose path holds a secret: invitations and shares. Only a digest of the secret is stored."""

from __future__ import annotations

import hashlib

from django.conf import settings

from backend.tenancy.context import current_tenant_id
from backend.tenancy.models import Tenant


def digest_of(token: str) -> bytes:
    """Return what is stored of a token. The token has 256 random bits, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).digest()


def link_to(page: str) -> str:
    """Return the address of a page of the current tenant. Where there are cells, it names the tenant for the router."""
    link = f"{settings.PUBLIC_URL}{page}"
    return f"{link}?tenant={Tenant.objects.get(id=current_tenant_id()).slug}" if settings.CELL else link
