"""Requests of the library `requests` by the service's checked transport (backend.outbound)."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import requests
from requests.adapters import BaseAdapter

from backend.outbound import transport

MOST_BYTES = 1_048_576
"""Largest reply that is read: a discovery document, a set of keys or claims are a few kilobytes."""


class CheckedTransport(BaseAdapter):
    """Sends requests to addresses that were resolved once and judged public; a redirect is a failure.

    timeout_s: for everything from the resolver to the last byte.
    """

    def __init__(self, *, timeout_s: float, allow_private: bool) -> None:
        super().__init__()
        self._timeout_s = timeout_s
        self._allow_private = allow_private

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        """Send a request. Raises requests.ConnectionError; its text names no address."""
        body = request.body or b""
        content = body.encode() if isinstance(body, str) else bytes(body)
        names = {name: value for name, value in request.headers.items() if isinstance(value, str)}
        try:
            with transport.request(
                request.method or "GET",
                request.url or "",
                headers={**names, "Accept-Encoding": "identity"},
                content=content,
                timeout_s=self._timeout_s,
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
