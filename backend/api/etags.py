"""Optimistic concurrency: ETags, and the If-Match of a request."""

from __future__ import annotations

from rest_framework.request import Request

from backend.api.problems import Problem


def etag(version: int) -> str:
    return f'"{version}"'


def expected_version(request: Request, *, current: int) -> int:
    """Return the version that a change may be applied to, which is the current one.

    Raises Problem 412 `version_mismatch`, with the current ETag, if If-Match names another version.
    """
    expected_tag(request, current=etag(current))
    return current


def named_version(request: Request, *, current: int) -> int | None:
    """Return the version that If-Match names, or None if any version is meant. Raises like expected_version()."""
    expected_version(request, current=current)
    return None if request.headers.get("If-Match", "*").strip() == "*" else current


def expected_tag(request: Request, *, current: str) -> None:
    """Raise Problem 412 `version_mismatch`, with the current ETag, if If-Match names other ETags only."""
    if_match = request.headers.get("If-Match")
    if if_match is None or if_match.strip() == "*":
        return
    if current not in {tag.strip() for tag in if_match.split(",")}:
        raise Problem(
            412,
            "version_mismatch",
            "The resource has changed since you read it; read it again.",
            headers={"ETag": current},
        )
