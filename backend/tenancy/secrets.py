"""What is derived from the installation's keys: sealed secrets at rest (Fernet), tokens of rows, and cache salts."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator
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


def tokens_of(purpose: str, row_id: UUID) -> Iterator[str]:
    """Yield the token of a row under each key, that of the newest key first.

    A token has 256 bits that nobody can compute without a key, so a process that holds the keys can write a link to the
    row later, and only a digest of the token is stored.
    """
    keys: dict[int, str] = settings.ENCRYPTION_KEYS
    for number in sorted(keys, reverse=True):
        key = hashlib.sha256(f"ava {purpose}:{keys[number]}".encode()).digest()
        token = hmac.new(key, row_id.bytes, hashlib.sha256).digest()
        yield base64.urlsafe_b64encode(token).rstrip(b"=").decode()


def cache_salt(tenant_id: UUID) -> str:
    """Return the salt of a tenant's prompts at the model servers.

    A server reuses the cache of an equal prompt only under the same salt, so no tenant can find out what another one
    asked. The salt says nothing of the tenant, and stays the same as long as AVA_CACHE_SALT_KEY does.
    """
    if not settings.CACHE_SALT_KEY:
        raise ImproperlyConfigured("AVA_CACHE_SALT_KEY is not set")
    key = hashlib.sha256(f"ava cache salt:{settings.CACHE_SALT_KEY}".encode()).digest()
    return hmac.new(key, tenant_id.bytes, hashlib.sha256).hexdigest()
