"""Idempotency-Key: sending a POST twice has one effect and one answer (IETF draft -06).

A row (tenant, key) with the request's fingerprint is the first write of the business transaction and holds its answer
when it commits. An answer that carries a secret is stored sealed (backend.tenancy.secrets), and only the API key that
sent the request gets it again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection
from datetime import timedelta
from functools import wraps
from typing import Any

from django.db import connection, connections, transaction
from django.utils import timezone
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.models import IdempotencyRecord
from backend.api.problems import CONTENT_TYPE, Problem, problem_of, respond
from backend.tenancy.authentication import Principal
from backend.tenancy.context import current_tenant_id
from backend.tenancy.secrets import open_sealed, seal

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
KEPT_FOR = timedelta(hours=24)
FORGOTTEN_AT_ONCE = 10
_SHAPE = re.compile(r"[\x21-\x7e]{1,255}")
_KEPT_HEADERS = ("Location", "ETag", "Cache-Control")
_MARK = "takes_idempotency_key"
Handler = Callable[..., Response]


def is_marked(handler: Any) -> bool:
    """Whether a view's method is idempotent()."""
    return getattr(handler, _MARK, False) is True


def idempotent(*, secret: bool = False) -> Callable[[Handler], Handler]:
    """Decorate a POST method of a TenantView, and mark it for the OpenAPI document.

    secret: the answer carries a secret, see run_once().
    """

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def handle(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
            return run_once(request, lambda: handler(view, request, *args, **kwargs), secret=secret)

        return calls_run_once(handle)

    return decorate


def calls_run_once(handler: Handler) -> Handler:
    """Mark a POST method that calls run_once() itself, in one of its transactions, for the OpenAPI document."""
    setattr(handler, _MARK, True)
    return handler


def is_known(request: Request) -> bool:
    """Whether an earlier request had this Idempotency-Key, so that run_once() does no work."""
    key = request.headers.get(HEADER)
    fresh = IdempotencyRecord.objects.filter(created_at__gte=timezone.now() - KEPT_FOR)
    return key is not None and fresh.filter(key=key).exists()


def run_once(request: Request, work: Callable[[], Response], *, secret: bool = False) -> Response:
    """Run work() once per Idempotency-Key, inside the open tenant_scope; without a key just run work().

    secret: the answer carries a secret. It is stored sealed, and another API key of the tenant does not get it. Raises
    Problem 422 `idempotency_key_reused` for another request, 409 `idempotency_in_progress` while a first request still
    runs, 400 for a malformed key. Answers of 400, 402, 409, 429 and 5xx are not kept, so a retry works.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return work()
    if not _SHAPE.fullmatch(key):
        raise Problem(400, "invalid_idempotency_key", f"{HEADER} is 1 to 255 visible ASCII characters.")
    tenant_id = current_tenant_id()
    _lock(f"idempotency:{tenant_id}:{key}")
    fingerprint = _fingerprint(request, secret=secret)
    earlier: IdempotencyRecord | None = IdempotencyRecord.objects.filter(key=key).first()
    if earlier is not None and earlier.created_at < timezone.now() - KEPT_FOR:
        earlier.delete()
        earlier = None
    if earlier is not None:
        return _replay(earlier, fingerprint)
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
        **_stored(JSONRenderer().render(response.data) or b"null", secret=secret),
        "headers": {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers},
    }
    record.save(update_fields=["status_code", "response"])
    return response


def forget_replies(ids: Collection[str]) -> None:
    """Delete the stored replies that show a resource with one of these public ids, because the resource is deleted."""
    IdempotencyRecord.objects.filter(response__body__id__in=list(ids)).delete()


def forget_old_replies() -> int:
    """Delete the stored replies of all tenants after KEPT_FOR, as the dispatch role. Returns their number.

    Some of them hold secrets, sealed, also of tenants that never send another key.
    """
    with connections["dispatch"].cursor() as cursor:
        cursor.execute("DELETE FROM api_idempotencyrecord WHERE created_at < %s", [timezone.now() - KEPT_FOR])
        return int(cursor.rowcount)


def _lock(name: str) -> None:
    # The lock ends with the transaction. Waiting on the unique index instead would hold a second request open for as
    # long as the first one runs.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [name])
        (locked,) = cursor.fetchone()
    if not locked:
        raise in_progress()


def in_progress() -> Problem:
    """Return the 409 for a request whose key an earlier request still uses."""
    return Problem(
        409,
        "idempotency_in_progress",
        f"A request with this {HEADER} is still running.",
        headers={"Retry-After": "1"},
    )


def _forget_oldest() -> None:
    """Drop a few of the tenant's outdated records; each new record pays for it, so they do not pile up.

    The ids are in order of time, so the oldest are found on the index without looking at the rest.
    """
    oldest = IdempotencyRecord.objects.select_for_update(skip_locked=True).order_by("id")[:FORGOTTEN_AT_ONCE]
    outdated = [row.id for row in oldest if row.created_at < timezone.now() - KEPT_FOR]
    if outdated:
        IdempotencyRecord.objects.filter(id__in=outdated).delete()


def _fingerprint(request: Request, *, secret: bool) -> str:
    body = json.dumps(request.data, sort_keys=True, separators=(",", ":"))
    parts = [str(request.method), request.path, body]
    if isinstance(request.auth, Principal) and (secret or request.auth.person_id is not None):
        # A replay skips the checks of the first request: what its caller may give away, and which collections it sees.
        parts.append(str(request.auth.api_key_id or request.auth.person_id))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _kept(status: int) -> bool:
    return status < 500 and status not in {400, 402, 409, 429}


def _stored(body: bytes, *, secret: bool) -> dict[str, Any]:
    return {"sealed": seal(body).decode()} if secret else {"body": json.loads(body)}


def _replay(record: IdempotencyRecord, fingerprint: str) -> Response:
    if record.fingerprint != fingerprint:
        raise Problem(422, "idempotency_key_reused", f"This {HEADER} was used for another request; choose a new one.")
    if record.status_code is None or record.response is None:
        # A row without an answer is impossible while the row and its answer share a transaction.
        raise RuntimeError(f"idempotency record {record.id} holds no answer")
    stored = record.response
    return Response(
        json.loads(open_sealed(stored["sealed"].encode())) if "sealed" in stored else stored["body"],
        status=record.status_code,
        headers={**stored["headers"], REPLAYED: "true"},
        content_type=CONTENT_TYPE if record.status_code >= 400 else None,
    )
