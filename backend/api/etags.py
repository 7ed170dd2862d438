"""ETags: If-Match for changes (optimistic concurrency), and If-None-Match for reads.

An ETag is `"state-body"`, or `"body"` of what nobody changes. `state` names what a change would overwrite, so it stays
while anything else of the reply changes, such as progress. `body` is a hash of the whole reply. If-Match compares the
state alone, and If-None-Match the whole ETag.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.problems import Problem

_SHOWN_BY = frozenset({"GET", "PATCH", "PUT"})


def etag(version: int) -> str:
    """Return the state of a row with a version. The base of all views adds the body."""
    return f'"{version}"'


def state_of(values: Mapping[str, Any]) -> str:
    """Return the state of what has no version of its own: a hash of the values that a change would overwrite."""
    written = json.dumps(values, sort_keys=True, default=str)
    return f'"{hashlib.sha256(written.encode()).hexdigest()[:32]}"'


def add_body(request: Request, response: Any) -> None:
    """Let a reply of 200 get its whole ETag when it is rendered, and become a 304 if the client has it already."""
    if isinstance(response, Response) and response.status_code == 200 and request.method in _SHOWN_BY:
        response.add_post_render_callback(lambda rendered: _with_body(request, rendered))


def _with_body(request: Request, response: Any) -> HttpResponse:
    state = response.headers.get("ETag", "").strip('"')
    body = hashlib.sha256(response.content).hexdigest()[:32]
    whole = f'"{state}-{body}"' if state else f'"{body}"'
    response.headers["ETag"] = whole
    known = request.headers.get("If-None-Match")
    if request.method != "GET" or known is None or not _names(known, whole):
        return response  # type: ignore[no-any-return]
    unchanged = HttpResponse(status=304, headers=dict(response.headers))
    del unchanged.headers["Content-Type"]
    for name in ("caller", "allowed_origins"):
        if hasattr(response, name):
            setattr(unchanged, name, getattr(response, name))
    return unchanged


def _names(header: str, tag: str) -> bool:
    """Whether an If-None-Match names this ETag. Proxies may have made it weak."""
    return header.strip() == "*" or tag in {each.strip().removeprefix("W/") for each in header.split(",")}


def _state(tag: str) -> str:
    return tag.strip().strip('"').partition("-")[0]


def expected_version(request: Request, *, current: int) -> int:
    """Return the version that a change may be applied to, which is the current one.

    Raises Problem 412 `version_mismatch`, with the current state, if If-Match names another version.
    """
    expected_tag(request, current=etag(current))
    return current


def named_version(request: Request, *, current: int) -> int | None:
    """Return the version that If-Match names, or None if any version is meant. Raises like expected_version()."""
    expected_version(request, current=current)
    return None if request.headers.get("If-Match", "*").strip() == "*" else current


def expected_tag(request: Request, *, current: str) -> None:
    """Raise Problem 412 `version_mismatch`, with the current state, if If-Match names other states only."""
    if_match = request.headers.get("If-Match")
    if if_match is None or if_match.strip() == "*":
        return
    if _state(current) not in {_state(tag) for tag in if_match.split(",")}:
        raise Problem(
            412,
            "version_mismatch",
            "The resource has changed since you read it; read it again.",
            headers={"ETag": current},
        )
