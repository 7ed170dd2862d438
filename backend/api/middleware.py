"""The request id: taken from the caller or made here, on every response and in every problem."""

from __future__ import annotations

import re
from collections.abc import Callable
from uuid import uuid4

from django.http import HttpRequest, HttpResponseBase

HEADER = "X-Request-Id"
# A caller's own id is echoed only while it is harmless in logs and headers.
_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RequestId:
    """Sets request.request_id and the X-Request-Id header of the response."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sent_id = request.headers.get(HEADER, "")
        request_id = sent_id if _ACCEPTED.fullmatch(sent_id) else f"req_{uuid4().hex}"
        request.request_id = request_id  # type: ignore[attr-defined]
        response = self.get_response(request)
        response.headers[HEADER] = request_id
        return response
