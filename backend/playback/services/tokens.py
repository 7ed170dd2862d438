"""Tokens that open the rendition of one video for some hours: players cannot send a key.

Signed and not stored: a token names the tenant, its end, and the key or the member that it was made for, with which it
ends earlier. Its signature covers the video as well.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import struct
import time
from datetime import datetime
from uuid import UUID

from django.utils.crypto import salted_hmac

from backend.tenancy.callers import Caller, current_caller

LIFETIME_S, ROUNDED_S = 6 * 3600, 900
"""Longest life of a token, and the clock on which its end lies: a page that is loaded again has the same URLs."""
_SALT = "backend.playback.token"
_TENANT, _END, _SIGNATURE = 16, 5, 16
_KEY, _MEMBER = 16, 24
"""Bytes that name a key, and a person with the time of their sign-in. A token for nobody has none."""


def token_of(tenant_id: UUID, video_id: UUID, *, until: datetime | None = None, now: float | None = None) -> str:
    """Return the token of a video for the next hours, for the caller of the current request.

    Outside of a request of the API it is for nobody. until: when it ends at the latest.
    """
    at = time.time() if now is None else now
    ends = int((at + LIFETIME_S) // ROUNDED_S * ROUNDED_S)
    if until is not None:
        ends = min(ends, int(until.timestamp()))
    return _text(tenant_id, video_id, ends, _named(current_caller()))


def ends_at(token: str) -> int:
    """Return the Unix time at which a token of ours ends."""
    return int.from_bytes(_bytes(token)[_TENANT : _TENANT + _END])


def holder_of(token: str) -> Caller:
    """Return the key or the member that a token of ours was made for; an empty Caller for nobody."""
    holder = _bytes(token)[_TENANT + _END : -_SIGNATURE]
    if len(holder) == _KEY:
        return Caller(api_key_id=UUID(bytes=holder))
    if len(holder) == _MEMBER:
        return Caller(person_id=UUID(bytes=holder[:16]), signed_in_at=struct.unpack(">d", holder[16:])[0])
    return Caller()


def tenant_of(token: str, video_id: UUID, *, now: float | None = None) -> UUID | None:
    """Return the tenant of a video's token; None for one that has ended, was altered, or opens another video.

    Whether its holder has ended is for the caller to ask.
    """
    given = _bytes(token)
    holder = given[_TENANT + _END : -_SIGNATURE]
    if len(given) < _TENANT + _END + _SIGNATURE or len(holder) not in (0, _KEY, _MEMBER):
        return None
    tenant_id, ends = UUID(bytes=given[:_TENANT]), int.from_bytes(given[_TENANT : _TENANT + _END])
    if not hmac.compare_digest(_text(tenant_id, video_id, ends, holder).encode(), token.encode()):
        return None
    return tenant_id if ends > (time.time() if now is None else now) else None


def _named(holder: Caller) -> bytes:
    if holder.api_key_id is not None:
        return holder.api_key_id.bytes
    return b"" if holder.person_id is None else holder.person_id.bytes + struct.pack(">d", holder.signed_in_at)


def _text(tenant_id: UUID, video_id: UUID, ends: int, holder: bytes) -> str:
    named = tenant_id.bytes + ends.to_bytes(_END) + holder
    signature = salted_hmac(_SALT, named + video_id.bytes, algorithm="sha256").digest()[:_SIGNATURE]
    return base64.urlsafe_b64encode(named + signature).decode().rstrip("=")


def _bytes(token: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except (binascii.Error, ValueError):
        return b""
