"""The base of every /v1 view: authentication, scope, rate limit, tenant, in this order."""

from __future__ import annotations

from collections.abc import Callable
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

from backend.api import public_ids, rate_limits
from backend.api.problems import not_found
from backend.observability import log_context
from backend.tenancy.authentication import Principal
from backend.tenancy.context import bounded_statements, enter_tenant, leave_tenant

Row = TypeVar("Row", bound=models.Model)


def get_or_404(queryset: QuerySet[Row], id: UUID) -> Row:
    """Return the row of queryset with this id. Raises the 404 that unknown and foreign ids share."""
    row = queryset.filter(pk=id).first()
    if row is None:
        raise not_found()
    return row


class AuthenticatedView(APIView):
    """A view for holders of an API key. scopes: HTTP method -> the scope it needs; a method without one is refused."""

    scopes: ClassVar[dict[str, str]] = {}
    # OPTIONS would describe the view to anybody; the OpenAPI document does that.
    metadata_class = None

    _grant: rate_limits.Grant | None = None

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with bounded_statements(settings.REQUEST_STATEMENT_SECONDS):
            return super().dispatch(request, *args, **kwargs)

    @property
    def principal(self) -> Principal:
        """Return the caller. Raises RuntimeError if nobody has been authenticated."""
        principal = self.request.auth
        if isinstance(principal, Principal):
            return principal
        raise RuntimeError("this request carries no API key")

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if isinstance(request.auth, Principal):
            log_context.note(tenant=public_ids.encode("tnt", request.auth.tenant_id))
            self._grant = rate_limits.take(request.auth.tenant_id)
            self._grant.check()

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        final: Response = super().finalize_response(request, response, *args, **kwargs)
        # A request that was refused before authentication has no caller, and must not be authenticated here.
        caller = getattr(request, "_auth", None)
        if isinstance(caller, Principal):
            final.allowed_origins = caller.origins  # type: ignore[attr-defined]
        if self._grant is not None:
            for name, value in self._grant.headers().items():
                final.headers.setdefault(name, value)
        return final


class TenantView(AuthenticatedView):
    """A view whose request is one transaction of its tenant (ATOMIC_REQUESTS)."""

    _entered: Token[UUID | None] | None = None

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super().dispatch(request, *args, **kwargs)
        finally:
            if self._entered is not None:
                leave_tenant(self._entered)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self._entered = enter_tenant(self.principal.tenant_id)

    get_or_404 = staticmethod(get_or_404)


class UnboundTenantView(AuthenticatedView):
    """A view without a transaction of its own, for answers that wait or stream.

    It opens tenant_scope(self.principal.tenant_id) for short stretches; nothing is held open in between.
    """

    get_or_404 = staticmethod(get_or_404)

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Callable[..., HttpResponseBase]:  # type: ignore[override]
        return transaction.non_atomic_requests(super().as_view(**initkwargs))
