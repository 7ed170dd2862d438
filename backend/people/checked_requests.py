"""Requests of the library `requests` by the service's checked transport (backend.outbound)."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import requests
from requests.adapters import BaseAdapter

from backend.outbound import transport
from backend.people.provider_exchanges import KeptReplies, time_for_a_request

MOST_BYTES = 1_048_576
"""Largest reply that is read: a discovery document, a set of keys or claims are a few kilobytes."""


_KEPT = KeptReplies()


class CheckedTransport(BaseAdapter):
    """Sends requests to addresses that were resolved once and judged public; a redirect is a failure.

    A request lasts no longer than what is left of its exchange, from the resolver to the last byte.
    """

    def __init__(self, *, allow_private: bool) -> None:
        super().__init__()
        self._allow_private = allow_private

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        """Send a request, or return the kept reply to one that presents nothing.

        Raises requests.ConnectionError or requests.Timeout, whose texts name no address, and TooManyExchanges.
        """
        public = request.method == "GET" and not request.body and "Authorization" not in request.headers
        name = (self._allow_private, request.url or "")
        kept = _KEPT.get(name) if public else None
        if kept is not None:
            return kept
        reply = self._sent(request, time_for_a_request())
        if public:
            _KEPT.keep(name, reply)
        return reply

    def _sent(self, request: requests.PreparedRequest, timeout_s: float) -> requests.Response:
        body = request.body or b""
        if not isinstance(body, str | bytes):
            raise requests.ConnectionError("a body is text or bytes")
        content = body.encode() if isinstance(body, str) else body
        names = {name: value for name, value in request.headers.items() if isinstance(value, str)}
        try:
            with transport.request(
                request.method or "GET",
                request.url or "",
                headers={**names, "Accept-Encoding": "identity"},
                content=content,
                timeout_s=timeout_s,
                allow_private=self._allow_private,
            ) as answer:
                text = answer.excerpt(MOST_BYTES)
        except transport.TransportError:
            raise requests.ConnectionError("the identity provider could not be reached") from None
        if 300 <= answer.status < 400:
            raise requests.ConnectionError("the identity provider redirects")
        reply = requests.Response()
        reply.status_code, reply.url, reply.request = answer.status, request.url or "", request
        reply.headers.update(answer.headers)
        reply.raw = BytesIO(text)
        return reply

    def close(self) -> None:
        """Hold nothing between requests."""
