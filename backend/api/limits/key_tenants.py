"""The tenants of presented API keys, so that several keys of one tenant share its threads.

A request counts before it is authenticated, so the tenant is known from the first reply to a key on.
"""

from __future__ import annotations

from collections import OrderedDict

from backend.api.server.fair_threads import Callers
from backend.tenancy.authentication import Principal

MOST_KEYS = 4_096


class KeyTenants:
    """Tenants by the digest of a key. Used on one event loop."""

    def __init__(self) -> None:
        self._tenants: OrderedDict[str, str] = OrderedDict()

    def callers(self, address: str, digest: str | None) -> Callers:
        """Return the names under which a request counts. digest: of the key that it presents; None for none."""
        if digest is None:
            return (address,)
        tenant = self._tenants.get(digest)
        return (address, digest) if tenant is None else (address, digest, tenant)

    def learn(self, digest: str | None, caller: Principal | None) -> None:
        """Keep whose key it is. caller: whom a reply was for; None if nobody was authenticated."""
        if digest is None:
            return
        self._tenants.pop(digest, None)
        if caller is not None:
            self._tenants[digest] = f"tenant {caller.tenant_id}"
            if len(self._tenants) > MOST_KEYS:
                self._tenants.popitem(last=False)
