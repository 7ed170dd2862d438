"""What can go wrong. Every error of the service is an `ApiError` with the stable `code` of its problem document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx


class AvaError(Exception):
    """The base of all errors of this package."""


@dataclass(frozen=True, slots=True)
class ValueProblem:
    """What is wrong with one value. pointer: a JSON Pointer into the body, or `/name` of a query parameter."""

    pointer: str
    code: str
    detail: str


class ApiError(AvaError):
    """The service refused a request. Branch on `code`; sentences may change.

    request_id: quote it to support. errors: what is wrong with single values. retry_after_s: seconds that the service
    asked to wait, None without a wish. limit: requests per minute, as the reply's RateLimit headers say. key: the
    request's Idempotency-Key, "" without one.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], headers: Mapping[str, str], key: str = "") -> None:
        self.status = status
        self.code = str(problem.get("code") or f"http_{status}")
        self.detail = str(problem.get("detail") or problem.get("title") or f"HTTP {status}")
        self.request_id = str(problem.get("request_id") or headers.get("x-request-id", ""))
        self.errors = tuple(
            ValueProblem(str(each.get("pointer", "")), str(each.get("code", "")), str(each.get("detail", "")))
            for each in problem.get("errors") or ()
        )
        self.retry_after_s = seconds_to_wait(headers)
        self.limit = headers.get("ratelimit-limit") or headers.get("ratelimit")
        self.key = key
        places = "; ".join(f"{each.pointer}: {each.detail}" if each.pointer else each.detail for each in self.errors)
        super().__init__(f"{self.detail}{f' ({places})' if places else ''} [{self.code}, request {self.request_id}]")


class InvalidRequest(ApiError):
    """400, 413, 415 or 422: the request is not valid; `errors` names the values."""


class NotAuthenticated(ApiError):
    """401: the API key is missing, unknown, expired or revoked."""


class LimitExceeded(ApiError):
    """402: a budget, the plan or a quota leaves no room; `code` says which."""


class PermissionDenied(ApiError):
    """403: the key may not do this."""


class NotFound(ApiError):
    """404: there is no such resource."""


class Conflict(ApiError):
    """409 or 412: the state of the resource forbids it, or it has changed."""


class NothingIndexed(Conflict):
    """409 `nothing_indexed`: nothing of the scope is indexed yet."""


class RateLimited(ApiError):
    """429: too many requests, or too much open work; `code` says which, and `retry_after_s` how long to wait."""


class ServiceUnavailable(ApiError):
    """5xx: the service cannot answer now."""


class NotModified(AvaError):
    """304: the resource still has the ETag that was sent in If-None-Match."""


class Unreachable(AvaError):
    """No reply came, so the outcome is unknown. Send the same request with this `key`, and it takes effect once."""

    def __init__(self, message: str, key: str = "") -> None:
        self.key = key
        super().__init__(message)


class WorkFailed(AvaError):
    """A video, question or other work ended without a result. code: why, as `error.code` of the resource says."""

    def __init__(self, resource_id: str, code: str, detail: str) -> None:
        self.resource_id, self.code, self.detail = resource_id, code, detail
        super().__init__(f"{resource_id}: {detail} [{code}]")


class WaitTimeout(AvaError):
    """The work had no outcome in the time that was allowed. It goes on in the service."""

    def __init__(self, resource_id: str, waited_s: float) -> None:
        self.resource_id, self.waited_s = resource_id, waited_s
        super().__init__(f"{resource_id} had no outcome within {waited_s:.0f} s; it goes on in the service")


_BY_CODE: Mapping[str, type[ApiError]] = {"nothing_indexed": NothingIndexed}
_BY_STATUS: Mapping[int, type[ApiError]] = {
    401: NotAuthenticated,
    402: LimitExceeded,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    429: RateLimited,
}


def error_of(response: httpx.Response) -> ApiError:
    """Return the error of a reply whose body was read."""
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    if not isinstance(problem, dict):
        problem = {}
    status = response.status_code
    by_status = _BY_STATUS.get(status) or (ServiceUnavailable if status >= 500 else InvalidRequest)
    kind = _BY_CODE.get(str(problem.get("code")), by_status)
    return kind(status, problem, response.headers, response.request.headers.get("idempotency-key", ""))


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Return Retry-After in seconds; None without one, or if it is a date."""
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError):
        return None
