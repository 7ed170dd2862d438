"""Requests per address, before anybody is authenticated: what guesses keys or floods log-ins is stopped early.

A network of customers may share an address, so the limit is far above a tenant's. A refused caller pays more: guessing
is stopped long before the limit that honest requests meet.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from backend.api import rate_limits
from backend.api.problems import Problem, as_json

logger = logging.getLogger(__name__)

REFUSED_COST, SIGN_IN_COST = 30, 100
"""Price of an answer 401 or 403, or of a wrong link, and of a form that signs in, in requests.

A password's hash costs a core 0.2 s."""
_REFUSED = frozenset({401, 403})
_GUESSED = "/share/"
"""Pages that a secret in the path opens: a wrong one costs like a refusal."""
_SIGN_IN = ("/login/", "/signup/", "/password/reset/")


class AddressLimits:
    """Answers 429 `rate_limited` when an address has no requests left. Without Redis nothing is counted."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        bucket, limit = f"address:{network_of(request.META.get('REMOTE_ADDR', ''))}", settings.ADDRESS_RATE_PER_MINUTE
        cost = SIGN_IN_COST if request.method == "POST" and request.path.endswith(_SIGN_IN) else 1
        try:
            rate_limits.take_from(bucket, limit, cost=cost).check()
        except Problem as problem:
            logger.info("an address is refused: %s", network_of(request.META.get("REMOTE_ADDR", "")))
            return as_json(problem, request)
        response = self.get_response(request)
        guessed = response.status_code == 404 and request.path.startswith(_GUESSED)
        if guessed or response.status_code in _REFUSED:
            rate_limits.take_from(bucket, limit, cost=REFUSED_COST)
        return response


def network_of(address: str) -> str:
    """Return the address that counts: of IPv6 the /64, of which a host has as many addresses as it likes."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, 64), strict=False))
