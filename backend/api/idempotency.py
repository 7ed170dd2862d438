"""Idempotency-Key: doing a POST twice has one effect and one answer (IETF draft -06).

A row (tenant, key) with the request's fingerprint is the first write of the business transaction and holds its answer
when it commits. Never put it around an answer that carries a secret: the answer is stored as it was sent.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.db import connection, transaction
from django.utils import timezone
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.models import IdempotencyRecord
from backend.api.problems import CONTENT_TYPE, Problem, problem_of, respond
from backend.tenancy.context import current_tenant_id

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
KEPT_FOR = timedelta(hours=24)
FORGOTTEN_AT_ONCE = 10
_SHAPE = re.compile(r"[\x21-\x7e]{1,255}")
_KEPT_HEADERS = ("Location", "ETag")
Handler = Callable[..., Response]


def idempotent(*, required: bool = False) -> Callable[[Handler], Handler]:
    """Decorate a POST method of a TenantView. required: a request without a key is answered 400."""

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def handle(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
            return run_once(request, lambda: handler(view, request, *args, **kwargs), required=required)

        return handle

    return decorate


def run_once(request: Request, work: Callable[[], Response], *, required: bool = False) -> Response:
    """work() once per Idempotency-Key, inside the open tenant_scope; without a key, just work().

    Raises Problem 422 `idempotency_key_reused` for another payload, 409 `idempotency_in_progress` while a first request
    still runs, 400 for a malformed or missing key. Answers of 402, 409, 429 and 5xx are not kept: a retry works.
    """
    key = request.headers.get(HEADER)
    if key is None:
        if required:
            raise Problem(400, "idempotency_key_required", f"This request needs an {HEADER} header.")
        return work()
    if not _SHAPE.fullmatch(key):
        raise Problem(400, "invalid_idempotency_key", f"{HEADER} is 1 to 255 visible ASCII characters.")
    tenant_id = current_tenant_id()
    _lock(f"idempotency:{tenant_id}:{key}")
    fingerprint = _fingerprint(request)
    known: IdempotencyRecord | None = IdempotencyRecord.objects.filter(key=key).first()
    if known is not None and known.created_at < timezone.now() - KEPT_FOR:
        known.delete()
        known = None
    if known is not None:
        return _replay(known, fingerprint)
    _forget_oldest()
    record = IdempotencyRecord.objects.create(tenant_id=tenant_id, key=key, fingerprint=fingerprint)
    try:
        # A savepoint, so that a refusal undoes the work and still keeps its answer.
        with transaction.atomic():
            response = work()
    except Exception as error:
        problem = problem_of(error)
        if not _kept(problem.status):
            raise problem from error
        response = respond(problem, request)
    if not _kept(response.status_code):
        record.delete()
        return response
    record.status_code = response.status_code
    record.response = {
        "body": json.loads(JSONRenderer().render(response.data) or b"null"),
        "headers": {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers},
    }
    record.save(update_fields=["status_code", "response"])
    return response


def _lock(name: str) -> None:
    # The lock ends with the transaction. Waiting on the unique index instead would hold a second request open for as
    # long as the first one runs.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [name])
        (locked,) = cursor.fetchone()
    if not locked:
        raise Problem(
            409,
            "idempotency_in_progress",
            f"A request with this {HEADER} is still running.",
            headers={"Retry-After": "1"},
        )


def _forget_oldest() -> None:
    """Drop a few of the tenant's outdated records; each new one pays for it, so they do not pile up.

    The ids are in order of time, so the oldest are found on the index without looking at the rest.
    """
    oldest = IdempotencyRecord.objects.select_for_update(skip_locked=True).order_by("id")[:FORGOTTEN_AT_ONCE]
    outdated = [row.id for row in oldest if row.created_at < timezone.now() - KEPT_FOR]
    if outdated:
        IdempotencyRecord.objects.filter(id__in=outdated).delete()


def _fingerprint(request: Request) -> str:
    body = json.dumps(request.data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256("\n".join([str(request.method), request.path, body]).encode()).hexdigest()


def _kept(status: int) -> bool:
    return status < 500 and status not in {402, 409, 429}


def _replay(record: IdempotencyRecord, fingerprint: str) -> Response:
    if record.fingerprint != fingerprint:
        raise Problem(422, "idempotency_key_reused", f"This {HEADER} was used for another request; choose a new one.")
    if record.status_code is None or record.response is None:
        # Committed without an answer: cannot happen while the row and its answer share a transaction.
        raise RuntimeError(f"idempotency record {record.id} holds no answer")
    return Response(
        record.response["body"],
        status=record.status_code,
        headers={**record.response["headers"], REPLAYED: "true"},
        content_type=CONTENT_TYPE if record.status_code >= 400 else None,
    )
