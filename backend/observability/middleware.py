"""One span, one log line and one measurement for each request."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import ResolverMatch

from backend.observability import log_context, metrics, tracing

logger = logging.getLogger("ava.requests")

PROBES = frozenset({"healthz", "readyz"})
"""Routes that are asked every few seconds. They are measured, but write no line and no span."""
UNMATCHED = "unmatched"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_LONGEST_ID = 40


class Observed:
    """Needs request.request_id. The route is named by its pattern, so that no id becomes a label."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began, method = time.monotonic(), method_of(request)
        if request.path.strip("/") in PROBES:
            response = self.get_response(request)
            _measure(request, response, began)
            return response
        request_id: str = request.request_id  # type: ignore[attr-defined]
        callers = request.headers.get("traceparent", "")
        with log_context.bound(request=request_id), tracing.request_span(method, callers=callers) as span:
            response = self.get_response(request)
            route, seconds = _measure(request, response, began)
            span.update_name(f"{method} {route}")
            span.set_attributes(
                {"http.request.method": method, "http.route": route, "http.response.status_code": response.status_code}
            )
            log_context.note(route=route)
            # What the server does for the reply later is part of the same work (backend.api.server.serving).
            response.log_fields = log_context.current()  # type: ignore[attr-defined]
            line = {"method": method, "status": response.status_code, "ms": round(seconds * 1000)}
            logger.info("%s %s %d", method, route, response.status_code, extra=line)
            return response

    def process_view(self, request: HttpRequest, view: Any, arguments: Any, names: dict[str, Any]) -> None:
        """Note the route and the ids in the path, which are those that customers see."""
        log_context.note(route=f"/{request.resolver_match.route}" if request.resolver_match else "")
        shown = {name: str(names.get(f"{name}_id", ""))[:_LONGEST_ID] for name in ("video", "question")}
        log_context.note(**shown)


def method_of(request: HttpRequest) -> str:
    """Return the method; a caller's own invention must not become a label."""
    return request.method if request.method in METHODS else "OTHER"


def _measure(request: HttpRequest, response: HttpResponseBase, began: float) -> tuple[str, float]:
    match: ResolverMatch | None = request.resolver_match
    route, seconds = f"/{match.route}" if match else UNMATCHED, time.monotonic() - began
    metrics.REQUESTS.labels(method_of(request), route, response.status_code).observe(seconds)
    return route, seconds


def fields_of(response: HttpResponseBase) -> Mapping[str, str]:
    """Return the log fields of the request that a response answers."""
    fields: Mapping[str, str] = getattr(response, "log_fields", {})
    return fields
