"""Tokens that open the rendition of one video for some hours: players cannot send a key.

Signed and not stored: a token names the tenant and its end, and its signature covers the video as well.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import time
from datetime import datetime
from uuid import UUID

from django.utils.crypto import salted_hmac

LIFETIME_S, ROUNDED_S = 6 * 3600, 900
"""Longest life of a token, and the clock on which its end lies: a page that is loaded again has the same URLs."""
_SALT = "backend.playback.token"
_SIGNATURE, _END = 16, 5


def token_of(tenant_id: UUID, video_id: UUID, *, until: datetime | None = None, now: float | None = None) -> str:
    """Return the token of a video for the next hours. until: when it ends at the latest."""
    at = time.time() if now is None else now
    ends = int((at + LIFETIME_S) // ROUNDED_S * ROUNDED_S)
    if until is not None:
        ends = min(ends, int(until.timestamp()))
    return _text(tenant_id, video_id, ends)


def ends_at(token: str) -> int:
    """Return the Unix time at which a token of ours ends."""
    return int.from_bytes(_bytes(token)[16 : 16 + _END])


def tenant_of(token: str, video_id: UUID, *, now: float | None = None) -> UUID | None:
    """Return the tenant of a video's token; None for one that has ended, was altered, or opens another video."""
    given = _bytes(token)
    if len(given) != 16 + _END + _SIGNATURE:
        return None
    tenant_id, ends = UUID(bytes=given[:16]), int.from_bytes(given[16 : 16 + _END])
    if not hmac.compare_digest(_text(tenant_id, video_id, ends).encode(), token.encode()):
        return None
    return tenant_id if ends > (time.time() if now is None else now) else None


def _text(tenant_id: UUID, video_id: UUID, ends: int) -> str:
    named = tenant_id.bytes + ends.to_bytes(_END)
    signature = salted_hmac(_SALT, named + video_id.bytes, algorithm="sha256").digest()[:_SIGNATURE]
    return base64.urlsafe_b64encode(named + signature).decode().rstrip("=")


def _bytes(token: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except (binascii.Error, ValueError):
        return b""
