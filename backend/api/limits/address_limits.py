"""Requests per address, before anybody is authenticated: what guesses keys or floods log-ins is stopped early.

A network of customers may share an address, so the limit is far above a tenant's. A refused caller pays more: guessing
is stopped long before the limit that honest requests meet. An address without requests is then refused on the event
loop, where a flood costs next to nothing, until it has some again (RefusedAddresses).
"""

from __future__ import annotations

import ipaddress
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from backend.api.limits import rate_limits
from backend.api.problems import as_json

logger = logging.getLogger(__name__)

REFUSED_COST, SIGN_IN_COST = 30, 100
"""Price of an answer 401 or 403, or of a wrong link, and of a form that signs in, in requests.

A password's hash costs a core 0.2 s."""
_REFUSED = frozenset({401, 403})
_GUESSED = "/share/"
"""Pages that a secret in the path opens: a wrong one costs like a refusal."""
_SIGN_IN = ("/login/", "/signup/", "/password/reset/")
_BY_PROVIDER = "/accounts/oidc/"
MOST_ADDRESSES = 4_096
"""Maximum number of refused addresses that a process keeps."""


class AddressLimits:
    """Answers 429 `rate_limited` when an address has no requests left. Without Redis nothing is counted."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        bucket, limit = f"address:{network_of(request.META.get('REMOTE_ADDR', ''))}", settings.ADDRESS_RATE_PER_MINUTE
        cost = SIGN_IN_COST if signs_in(request.method, request.path) else 1
        granted = rate_limits.take_from(bucket, limit, cost=cost)
        if not granted.allowed:
            logger.info("an address is refused: %s", network_of(request.META.get("REMOTE_ADDR", "")))
            refused = as_json(rate_limits.refusal(limit, granted.wait_s), request)
            refused.address_waits_s = granted.wait_s  # type: ignore[attr-defined]
            return refused
        response = self.get_response(request)
        guessed = response.status_code == 404 and request.path.startswith(_GUESSED)
        if guessed or response.status_code in _REFUSED:
            rate_limits.take_from(bucket, limit, cost=REFUSED_COST)
        return response


class AddressRefused(Exception):
    """An address has no requests left for wait_s seconds."""

    def __init__(self, wait_s: int) -> None:
        super().__init__(wait_s)
        self.wait_s = wait_s


class RefusedAddresses:
    """Addresses that have no requests left, and until when. Used on one event loop."""

    def __init__(self) -> None:
        self._until: OrderedDict[str, float] = OrderedDict()

    def learn(self, address: str, response: object) -> None:
        """Keep that a response refused its address."""
        wait_s: int | None = getattr(response, "address_waits_s", None)
        if wait_s is not None:
            self._until.pop(address, None)
            self._until[address] = time.monotonic() + wait_s
            if len(self._until) > MOST_ADDRESSES:
                self._until.popitem(last=False)

    def check(self, address: str) -> None:
        """Check that an address is not refused. Raises AddressRefused."""
        until = self._until.get(address)
        if until is None:
            return
        left_s = until - time.monotonic()
        if left_s > 0:
            raise AddressRefused(math.ceil(left_s))
        del self._until[address]


def signs_in(method: str | None, path: str) -> bool:
    """Whether a request is a form that signs in."""
    return method == "POST" and path.endswith(_SIGN_IN)


def hashes_a_password(method: str | None, path: str) -> bool:
    """Whether a request is a form with a password, or asks for a new one; a sign-in by an identity provider is none."""
    return signs_in(method, path) and not path.startswith(_BY_PROVIDER)


def network_of(address: str) -> str:
    """Return the address that counts: of IPv6 the /64, of which a host has as many addresses as it likes."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, 64), strict=False))
