"""Errors on the wire: RFC 9457 problem details, from one exception handler for every route."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from psycopg.errors import QueryCanceled
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from backend.api.public_ids import encode
from backend.observability import log_context
from backend.tenancy.refusals import Refused

CONTENT_TYPE = "application/problem+json"
NON_FIELD = "non_field_errors"
logger = logging.getLogger(__name__)
refusals = logging.getLogger("ava.refusals")


@dataclass(frozen=True, slots=True)
class FieldError:
    """The fault of one value. pointer: JSON Pointer into the body, or `/name` of a query parameter."""

    pointer: str
    code: str
    detail: str


class Problem(Exception):
    """An answer other than success: HTTP status, stable code, and a sentence that the customer can act on."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        title: str | None = None,
        errors: Sequence[FieldError] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.title = title or HTTPStatus(status).phrase
        self.errors = tuple(errors)
        self.headers = dict(headers or {})

    def body(self, request: HttpRequest) -> dict[str, Any]:
        """Return the members of RFC 9457 with our extensions code, request_id and errors."""
        return {
            "type": f"{settings.PUBLIC_URL}/errors#{self.code}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "instance": request.path,
            "code": self.code,
            "request_id": getattr(request, "request_id", ""),
            "errors": [asdict(error) for error in self.errors],
        }


def not_found() -> Problem:
    """Return the 404 for ids that never existed, are malformed, or belong to another tenant."""
    return Problem(404, "not_found", "There is no such resource.")


def _invalid_request(errors: Sequence[FieldError]) -> Problem:
    """Return the 400 of values that are not valid; its errors say which values and why."""
    return Problem(400, "invalid_request", "The request is not valid.", errors=errors)


def field_errors(detail: Any, pointer: str = "") -> Iterator[FieldError]:
    """Flatten the detail of a DRF ValidationError, whichever of its nested shapes it has, into pointers."""
    if isinstance(detail, Mapping):
        for key, value in detail.items():
            # JSON may name half of a surrogate pair, which no response can carry.
            name = str(key).encode("utf-8", "replace").decode()
            step = "" if key == NON_FIELD else "/" + name.replace("~", "~0").replace("/", "~1")
            yield from field_errors(value, pointer + step)
    elif isinstance(detail, list | tuple):
        for index, value in enumerate(detail):
            nested = isinstance(value, Mapping | list | tuple)
            # many=True gives one entry per item, empty for the items that are valid.
            yield from field_errors(value, f"{pointer}/{index}" if nested else pointer)
    else:
        yield FieldError(pointer, str(getattr(detail, "code", "invalid")), str(detail))


_LOGGED = frozenset({401, 403, 429})
"""Refusals that show an attack on a key or on the limits, with the client's address."""

# DRF's own exceptions, most specific first.
_DRF_CODES: tuple[tuple[type[exceptions.APIException], str], ...] = (
    (exceptions.ParseError, "malformed_body"),
    (exceptions.NotAuthenticated, "not_authenticated"),
    (exceptions.AuthenticationFailed, "invalid_api_key"),
    (exceptions.PermissionDenied, "permission_denied"),
    (exceptions.MethodNotAllowed, "method_not_allowed"),
    (exceptions.NotAcceptable, "not_acceptable"),
    (exceptions.UnsupportedMediaType, "unsupported_media_type"),
)


def problem_of(error: Exception) -> Problem:
    """Return the problem that answers an exception. An unexpected exception becomes a 500 that hides its cause.

    A refusal of one value (400 with a pointer) has the code `invalid_request`; its own code is in errors.
    """
    if isinstance(error, Problem):
        return error
    if isinstance(error, Refused):
        errors = [FieldError(error.pointer, error.code, error.detail)] if error.pointer is not None else []
        if error.status == 400 and errors:
            # Every invalid value has one shape, whether a serializer or a service refuses it.
            return _invalid_request(errors)
        headers = {"Retry-After": "2"} if error.status == 503 else {}
        return Problem(error.status, error.code, error.detail, errors=errors, headers=headers)
    if isinstance(error, Http404 | exceptions.NotFound):
        return not_found()
    if isinstance(error, PermissionDenied):
        return Problem(403, "permission_denied", "This is not allowed.")
    if isinstance(error, exceptions.ValidationError):
        return _invalid_request(list(field_errors(error.detail)))
    if isinstance(error, exceptions.APIException) and error.status_code < 500:
        code = next((code for kind, code in _DRF_CODES if isinstance(error, kind)), error.default_code)
        own_code = getattr(error.detail, "code", error.default_code)
        if own_code != error.default_code:
            code = str(own_code)
        headers = {}
        challenge = getattr(error, "auth_header", None)
        if challenge:
            headers["WWW-Authenticate"] = str(challenge)
        return Problem(error.status_code, code, str(error.detail), headers=headers)
    if isinstance(error, OperationalError) and isinstance(error.__cause__, QueryCanceled):
        logger.warning("a statement of a request took too long", exc_info=error)
        detail = "The request takes too long. Ask for less, such as a shorter span or a smaller page."
        return Problem(503, "took_too_long", detail, headers={"Retry-After": "10"})
    if isinstance(error, OperationalError):
        logger.warning("a database is away", exc_info=error)
        return Problem(
            503, "unavailable", "The service is briefly unavailable; try again.", headers={"Retry-After": "2"}
        )
    logger.error("unexpected error", exc_info=error)
    return Problem(500, "internal_error", "Something went wrong on our side; quote the request_id to support.")


def handle_exception(error: Exception, context: Mapping[str, Any]) -> Response:
    """Answer an exception with its problem and roll back the request's transaction (DRF's EXCEPTION_HANDLER)."""
    problem = problem_of(error)
    request = context["request"]
    if problem.status in _LOGGED:
        _log_refusal(problem, error, request.META.get("REMOTE_ADDR", ""))
    set_rollback()
    response = respond(problem, request)
    # A middleware can act on it after the rollback.
    response.refused = error if isinstance(error, Refused) else None  # type: ignore[attr-defined]
    return response


def _log_refusal(problem: Problem, error: Exception, address: str) -> None:
    """Write who was refused, and why a key was (tenancy.authentication.KeyRefused), which the reply does not say."""
    tenant = getattr(error, "tenant_id", None)
    why = {"reason": getattr(error, "reason", None), "key": getattr(error, "key_id", None)}
    with log_context.bound(tenant=encode("tnt", tenant) if tenant else ""):
        refusals.warning(
            "refused a request from %s: %d %s",
            address,
            problem.status,
            problem.code,
            extra={name: value for name, value in why.items() if value},
        )


def respond(problem: Problem, request: HttpRequest) -> Response:
    """Return a problem as a response, without touching the transaction."""
    return Response(problem.body(request), status=problem.status, headers=problem.headers, content_type=CONTENT_TYPE)


def as_json(problem: Problem, request: HttpRequest) -> JsonResponse:
    """Return a problem as a response outside DRF's views."""
    return JsonResponse(
        problem.body(request), status=problem.status, headers=problem.headers, content_type=CONTENT_TYPE
    )


def handler400(request: HttpRequest, exception: Exception) -> JsonResponse:
    return as_json(Problem(400, "bad_request", "The request cannot be read."), request)


def handler404(request: HttpRequest, exception: Exception) -> JsonResponse:
    return as_json(not_found(), request)


def handler500(request: HttpRequest) -> JsonResponse:
    detail = "Something went wrong on our side; quote the request_id to support."
    return as_json(Problem(500, "internal_error", detail), request)
