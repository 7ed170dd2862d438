"""Limits of a key, which no key passes on in a wider form."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from backend.tenancy import networks
from backend.tenancy.authentication import Principal
from backend.tenancy.refusals import Refused


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """expires_at: None for never. allowed_ips: networks, empty for everywhere. requests_per_minute: None for no limit
    besides the tenant's."""

    expires_at: datetime | None = None
    allowed_ips: tuple[str, ...] = ()
    requests_per_minute: int | None = None

    def within(self, maker: Principal) -> KeyLimits:
        """Return these limits with those of the maker where they are missing. Raises Refused `beyond_maker`."""
        ends = self.expires_at or maker.expires_at
        if maker.expires_at is not None and ends is not None and ends > maker.expires_at:
            raise _beyond("/expires_at", "A key cannot outlive the key that makes it.")
        addresses = self.allowed_ips or maker.allowed_ips
        if not networks.within(addresses, maker.allowed_ips):
            raise _beyond("/allowed_ips", "A key cannot be used from networks that are closed to its maker.")
        limit = self.requests_per_minute or maker.requests_per_minute
        if maker.requests_per_minute is not None and limit is not None and limit > maker.requests_per_minute:
            raise _beyond("/requests_per_minute", "A key cannot have a higher limit than its maker.")
        return KeyLimits(ends, addresses, limit)


def _beyond(pointer: str, detail: str) -> Refused:
    return Refused("beyond_maker", detail, status=403, pointer=pointer)
