"""Answers of the pages of accounts that a later try can turn into another: too many at once, or Redis is away.

The counters of attempts lie in Redis. While it is away nobody can sign in by these pages: passwords and codes could be
guessed without a limit. Sessions lie in the database and go on, and so do API keys.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from redis import RedisError

logger = logging.getLogger(__name__)

_PAGES = "/accounts/"
_AWAY_S = 10
"""Seconds after which a page is tried again that needs Redis."""


def try_again(request: HttpRequest, reason: str, *, status: int, seconds: int) -> HttpResponse:
    """Answer that the same request can succeed later. A browser sends a GET again by itself."""
    reply = render(request, "people/try_again.html", {"reason": reason}, status=status)
    reply["Retry-After"] = str(seconds)
    if request.method == "GET":
        reply["Refresh"] = str(seconds)
    return reply


class CountersAway:
    """Answers 503 for a page that could not count attempts because Redis is away."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer in place of an error 500; None leaves any other exception as it is."""
        if not isinstance(exception, RedisError) or not request.path.startswith(_PAGES):
            return None
        logger.error("attempts cannot be counted, so nobody signs in: %s", type(exception).__name__)
        return try_again(request, "Signing in is not possible at this moment.", status=503, seconds=_AWAY_S)
