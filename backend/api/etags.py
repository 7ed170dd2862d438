"""Optimistic concurrency: the integer version of a row as its ETag."""

from __future__ import annotations

from rest_framework.request import Request

from backend.api.problems import Problem


def etag(version: int) -> str:
    return f'"{version}"'


def expected_version(request: Request, *, current: int) -> int:
    """Return the version that a change may be applied to: that of If-Match if it is sent, else the current one.

    Raises Problem 412 `version_mismatch`, with the current ETag, if If-Match names another version.
    """
    if_match = request.headers.get("If-Match")
    if if_match is None or if_match.strip() == "*":
        return current
    tags = {tag.strip() for tag in if_match.split(",")}
    if etag(current) not in tags:
        raise Problem(
            412,
            "version_mismatch",
            "The resource has changed since you read it; read it again.",
            headers={"ETag": etag(current)},
        )
    return current
