"""Links whose path holds a secret: invitations and shares. Only a digest of the secret is stored."""

from __future__ import annotations

import hashlib

from django.conf import settings


def digest_of(token: str) -> bytes:
    """Return what is stored of a token. The token has 256 random bits, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).digest()


def link_to(page: str) -> str:
    """Return the address of a page of this installation."""
    return f"{settings.PUBLIC_URL}{page}"
