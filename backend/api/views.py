"""The base of every /v1 view: authentication, scope, rate limit, tenant, in this order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import Token
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import models, transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.api import acts, etags, public_ids
from backend.api.contract.deprecation import Deprecation
from backend.api.idempotency import REPLAYED
from backend.api.limits import rate_limits
from backend.api.problems import not_found
from backend.observability import log_context
from backend.tenancy.authentication import Principal
from backend.tenancy.callers import acting_for
from backend.tenancy.context import bounded_statements, enter_tenant, leave_tenant, limited_to, tenant_scope

Row = TypeVar("Row", bound=models.Model)


def get_or_404(queryset: QuerySet[Row], id: UUID) -> Row:
    """Return the row of queryset with this id. Raises the 404 that unknown and foreign ids share."""
    row = queryset.filter(pk=id).first()
    if row is None:
        raise not_found()
    return row


def _buckets(caller: Principal) -> Iterator[rate_limits.Grant]:
    """Count a request. Members have buckets of their own, so that an open page cannot starve an integration."""
    if caller.person_id is not None:
        yield rate_limits.take_of(caller.person_id, caller.tenant_requests_per_minute)
        return
    if caller.api_key_id is not None and caller.requests_per_minute is not None:
        yield rate_limits.take_of(caller.api_key_id, caller.requests_per_minute)
    yield rate_limits.take_of(caller.tenant_id, caller.tenant_requests_per_minute)


def count_free(caller: Principal) -> None:
    """Count a request that works something out for nothing. Raises Problem 429 `rate_limited`."""
    limit = settings.FREE_REQUESTS_PER_MINUTE
    granted = rate_limits.take_from(f"free:{caller.person_id or caller.tenant_id}", limit)
    if not granted.allowed:
        raise rate_limits.refusal(limit, granted.wait_s, of="estimates and text filters")


class AuthenticatedView(APIView):
    """A view for holders of an API key and for members.

    scopes: HTTP method -> the scope it needs; a method without one is refused. deprecated: HTTP method -> since when it
    should not be used, and when it goes. free: whether what the view works out costs nothing: such requests also count
    in a smaller bucket of their own.
    """

    scopes: ClassVar[dict[str, str]] = {}
    deprecated: ClassVar[Mapping[str, Deprecation]] = {}
    free: ClassVar[bool] = False
    # OPTIONS would describe the view to anybody; the OpenAPI document does that.
    metadata_class = None

    _grant: rate_limits.Grant | None = None

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        self._limits = ExitStack()
        with bounded_statements(settings.REQUEST_STATEMENT_SECONDS), self._limits:
            return super().dispatch(request, *args, **kwargs)

    @property
    def principal(self) -> Principal:
        """Return the caller. Raises RuntimeError if nobody has been authenticated."""
        principal = self.request.auth
        if isinstance(principal, Principal):
            return principal
        raise RuntimeError("nobody has been authenticated")

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if isinstance(request.auth, Principal):
            log_context.note(tenant=public_ids.encode("tnt", request.auth.tenant_id))
            self._limits.enter_context(limited_to(request.auth.collections))
            self._limits.enter_context(acting_for(request.auth.caller))
            for grant in _buckets(request.auth):
                # The limit that is met first is the one that the caller has to know.
                if self._grant is None or grant.left < self._grant.left:
                    self._grant = grant
                grant.check()
            if self.free:
                count_free(request.auth)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        final: Response = super().finalize_response(request, response, *args, **kwargs)
        # A request that was refused before authentication has no caller, and must not be authenticated here.
        caller = getattr(request, "_auth", None)
        if isinstance(caller, Principal):
            # The server ends a reply that stays open when its caller's key ends.
            final.caller = caller  # type: ignore[attr-defined]
            final.allowed_origins = caller.origins  # type: ignore[attr-defined]
        if self._grant is not None:
            for name, value in self._grant.headers().items():
                final.headers.setdefault(name, value)
        if (ending := self.deprecated.get(request.method or "")) is not None:
            for name, value in ending.headers().items():
                final.headers[name] = value
        etags.add_body(request, final)
        return final


class TenantView(AuthenticatedView):
    """A view whose request is one transaction of its tenant (ATOMIC_REQUESTS).

    audited: HTTP method -> the administrative act that the audit log records when the method succeeds. administrative:
    whether the request is one; a method sets it to False where it has changed nothing that the log is for.
    """

    audited: ClassVar[dict[str, str]] = {}
    audit_details: Mapping[str, Any] = {}
    administrative: bool = True
    _entered: Token[UUID | None] | None = None

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super().dispatch(request, *args, **kwargs)
        finally:
            if self._entered is not None:
                leave_tenant(self._entered)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self._enter(request)

    def _enter(self, request: Request) -> None:
        self._entered = enter_tenant(self.principal.tenant_id)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        final = super().finalize_response(request, response, *args, **kwargs)
        self._audit(request, final, str(next(iter(kwargs.values()), "")))
        return final

    def _audit(self, request: Request, final: Response, named: str) -> None:
        action = self.audited.get(request.method or "")
        if action is not None and self.administrative and final.status_code < 300 and REPLAYED not in final.headers:
            made = final.data if isinstance(final.data, Mapping) else {}
            acts.note(request, acts.Act(action, named or str(made.get("id", "")), self.audit_details))

    get_or_404 = staticmethod(get_or_404)


class SteppedTenantView(TenantView):
    """A tenant's view some of whose methods call object storage, and hold no transaction open meanwhile.

    stepped: HTTP methods that open each of their transactions by step(). The request of any other method is one
    transaction, as that of a TenantView. A stepped method that is audited calls note_act() in its last step.
    """

    stepped: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Callable[..., HttpResponseBase]:  # type: ignore[override]
        return transaction.non_atomic_requests(super().as_view(**initkwargs))

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method in self.stepped:
            return super().dispatch(request, *args, **kwargs)
        with transaction.atomic():
            return super().dispatch(request, *args, **kwargs)

    def step(self) -> AbstractContextManager[None]:
        """Open a short transaction of the caller's tenant."""
        return tenant_scope(self.principal.tenant_id)

    @contextmanager
    def checks(self) -> Iterator[None]:
        """Open a step that reads and checks; what its checks write is undone, because a later step repeats them."""
        with self.step():
            yield
            transaction.set_rollback(True)

    def note_act(self, object_id: str) -> None:
        """Record the administrative act of a stepped method in the open step. object_id: public id of its resource."""
        acts.note(self.request, acts.Act(self.audited[str(self.request.method)], object_id, self.audit_details))

    def _enter(self, request: Request) -> None:
        if request.method not in self.stepped:
            super()._enter(request)

    def _audit(self, request: Request, final: Response, named: str) -> None:
        if request.method not in self.stepped:
            super()._audit(request, final, named)


class UnboundTenantView(AuthenticatedView):
    """A view without a transaction of its own, for answers that wait or stream.

    It opens tenant_scope(self.principal.tenant_id) for short stretches; nothing is held open in between.
    """

    get_or_404 = staticmethod(get_or_404)

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Callable[..., HttpResponseBase]:  # type: ignore[override]
        return transaction.non_atomic_requests(super().as_view(**initkwargs))
