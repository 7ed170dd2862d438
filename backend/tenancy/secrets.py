"""What is derived from the installation's keys: sealed secrets at rest (Fernet), and each tenant's cache salt."""

from __future__ import annotations

import base64
import hashlib
import hmac
from uuid import UUID

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class SealBroken(Exception):
    """Sealed bytes that no current key opens: altered, or sealed under a retired key."""


def _fernet() -> MultiFernet:
    keys: dict[int, str] = settings.ENCRYPTION_KEYS
    # The first key seals; every key opens. Any text can be a key, so each is hashed to Fernet's 32 bytes.
    return MultiFernet(
        Fernet(base64.urlsafe_b64encode(hashlib.sha256(f"ava seal:{keys[number]}".encode()).digest()))
        for number in sorted(keys, reverse=True)
    )


def seal(plain: bytes) -> bytes:
    """Encrypt and authenticate under the newest key."""
    return _fernet().encrypt(plain)


def open_sealed(sealed: bytes) -> bytes:
    """Return the plain bytes. Raises SealBroken."""
    try:
        return _fernet().decrypt(bytes(sealed))
    except InvalidToken:
        raise SealBroken("a sealed value does not open under any key") from None


def cache_salt(tenant_id: UUID) -> str:
    """Return the salt of a tenant's prompts at the model servers.

    A server reuses the cache of an equal prompt only under the same salt, so no tenant can find out what another one
    asked. The salt says nothing of the tenant, and stays the same as long as AVA_CACHE_SALT_KEY does.
    """
    if not settings.CACHE_SALT_KEY:
        raise ImproperlyConfigured("AVA_CACHE_SALT_KEY is not set")
    key = hashlib.sha256(f"ava cache salt:{settings.CACHE_SALT_KEY}".encode()).digest()
    return hmac.new(key, tenant_id.bytes, hashlib.sha256).hexdigest()
