"""The request id, on every response and in every problem; and the refusal of requests that are not safe to answer."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from backend.api.monitoring.recent_requests import RECORDER, Seen
from backend.api.problems import Problem, as_json
from backend.api.public_ids import encode
from backend.observability.middleware import method_of
from backend.tenancy.authentication import Principal
from backend.tenancy.guard import Watch

HEADER = "X-Request-Id"
# A caller's own id is echoed only while it is harmless in logs and headers.
_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")


def request_id_of(sent_id: str) -> str:
    """Return the id of a request: the caller's own, or a new one."""
    return sent_id if _ACCEPTED.fullmatch(sent_id) else f"req_{uuid4().hex}"


class RequestId:
    """Sets request.request_id and the X-Request-Id header of the response."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = request_id_of(request.headers.get(HEADER, ""))
        request.request_id = request_id  # type: ignore[attr-defined]
        response = self.get_response(request)
        response.headers[HEADER] = request_id
        return response


class Recorded:
    """Notes each request of the API for the console's page of requests. Needs request.request_id.

    Probes, static files and whatever has no route are left out; the log has them.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.monotonic()
        response = self.get_response(request)
        match = request.resolver_match
        if match is not None and settings.PROCESS == "api" and request.path not in _PROBES:
            ms = round((time.monotonic() - began) * 1000)
            RECORDER.note(_seen(request, f"/{match.route}", response, ms))
        return response


def _seen(request: HttpRequest, route: str, response: HttpResponseBase, ms: int) -> Seen:
    tenant = by = code = ""
    caller = getattr(response, "caller", None)
    if isinstance(caller, Principal):
        tenant = encode("tnt", caller.tenant_id)
        kind, id = ("key", caller.api_key_id) if caller.api_key_id else ("per", caller.person_id)
        by = encode(kind, id) if id else ""
    data = getattr(response, "data", None)
    if response.status_code >= 400 and isinstance(data, dict):
        code = str(data.get("code", ""))
    request_id: str = request.request_id  # type: ignore[attr-defined]
    return Seen(time.time(), request_id, method_of(request), route, response.status_code, ms, tenant, by, code)


WATCH = Watch(on_fault=lambda: None)
"""The checks of this API process. backend.asgi starts them; the process stays, to say that it is not ready."""
_PROBES = frozenset({"/healthz", "/readyz"})


class Refusing:
    """Answers 503 to every request but the probes while the database does not keep tenants apart."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if WATCH.faulty and request.path not in _PROBES:
            problem = Problem(503, "unavailable", "The service is briefly unavailable; try again.")
            problem.headers["Retry-After"] = "30"
            return as_json(problem, request)
        return self.get_response(request)
