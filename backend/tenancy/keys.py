"""The text of an API key, `vk_live_<10 public>_<32 secret><6 CRC>` or `vk_test_…`, and its digest.

The CRC lets a secret scanner recognise a key without asking the service. The secret carries 190 bits, so an HMAC under
a pepper is enough; a slow hash would only cost time on every request.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import zlib
from dataclasses import dataclass

from django.conf import settings

ALL_SCOPES = "*"
ANYBODY = ""
"""The scope of what every caller may do."""
SCOPES = (
    "videos:read",
    "videos:write",
    "questions:read",
    "questions:write",
    "clips:write",
    "shares:write",
    "webhooks:write",
    "usage:read",
    "keys:read",
    "keys:write",
    "budgets:write",
    "billing:write",
    "audit:read",
    "members:read",
    "members:write",
    "retention:write",
)
IMPLIED = {"keys:read": "keys:write", "members:read": "members:write"}
"""Scopes that another scope contains."""
MANAGING = frozenset({ALL_SCOPES, "keys:write"})
"""Scopes with which a key manages other keys."""
DANGEROUS = frozenset({"keys:write", "budgets:write", "billing:write", "members:write", "retention:write"})
"""Scopes whose use by a member needs an authentication of the last minutes; so does every DELETE."""
TEST_SCOPES = frozenset(
    {
        "videos:read", "videos:write", "questions:read", "questions:write", "clips:write", "shares:write",
        "webhooks:write", "usage:read",
    }
)  # fmt: skip
"""Scopes that a test key may have: work on test objects, and nothing that governs the tenant."""
_LIVE, _TEST = "vk_live_", "vk_test_"
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PUBLIC, _SECRET, _CRC = 10, 32, 6
_SHAPE = re.compile(rf"(?:{_LIVE}|{_TEST})([0-9A-Za-z]{{{_PUBLIC}}})_([0-9A-Za-z]{{{_SECRET}}})([0-9A-Za-z]{{{_CRC}}})")


@dataclass(frozen=True, slots=True)
class PresentedKey:
    text: str
    public_id: str


def checksum(body: str) -> str:
    """Return the CRC-32 of a key without it, in six digits of the alphabet."""
    number = zlib.crc32(body.encode())
    digits = ""
    for _ in range(_CRC):
        number, digit = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return digits


def hint(public_id: str, *, test: bool) -> str:
    """Return the beginning of a key's text, by which its holder recognises it."""
    return f"{_TEST if test else _LIVE}{public_id}"


def generate(*, test: bool = False) -> PresentedKey:
    """Return a new key from the system's random source."""
    public_id = "".join(secrets.choice(_ALPHABET) for _ in range(_PUBLIC))
    secret = "".join(secrets.choice(_ALPHABET) for _ in range(_SECRET))
    body = f"{hint(public_id, test=test)}_{secret}"
    return PresentedKey(text=body + checksum(body), public_id=public_id)


def parse(text: str) -> PresentedKey | None:
    """Return the parts of a key; None if its shape or checksum is wrong."""
    match = _SHAPE.fullmatch(text)
    if match is None or not hmac.compare_digest(checksum(text[:-_CRC]), match[3]):
        return None
    return PresentedKey(text=text, public_id=match[1])


def current_pepper_id() -> int:
    peppers: dict[int, str] = settings.KEY_PEPPERS
    return max(peppers)


def digest_of(text: str, *, pepper_id: int) -> bytes:
    """Return the HMAC-SHA256 of the whole key. Raises KeyError for a retired pepper."""
    peppers: dict[int, str] = settings.KEY_PEPPERS
    return hmac.new(peppers[pepper_id].encode(), text.encode(), hashlib.sha256).digest()


def matches(text: str, *, digest: bytes, pepper_id: int) -> bool:
    """Whether a presented key has this digest, in constant time; False under a retired pepper."""
    if pepper_id not in settings.KEY_PEPPERS:
        return False
    return hmac.compare_digest(digest_of(text, pepper_id=pepper_id), digest)
