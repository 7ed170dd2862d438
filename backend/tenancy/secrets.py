"""Encryption of secrets at rest (webhook secrets, stored answers with a secret): Fernet, keys from the environment."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


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
