"""DELETE /v1/tenant and GET /v1/tenant/erasure: everything of a tenant is erased, and a certificate says so."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.urls import path
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.api.bodies import parsed
from backend.api.problems import not_found
from backend.api.views import UnboundTenantView
from backend.audit.services import actor_of
from backend.erasure.bodies import (
    TenantErasureBegunSerializer,
    TenantErasureRequestSerializer,
    TenantErasureSerializer,
    erasure_body,
)
from backend.erasure.services.tenants import ask_for_erasure, erasure_of
from backend.erasure.services.tickets import tenant_of, ticket_of
from backend.tenancy.context import tenant_scope
from backend.tenancy.keys import ALL_SCOPES

TAGS = ["Data"]


class WholeTenantView(UnboundTenantView):
    """Not one transaction: the job of an erasure belongs to the system tenant."""

    scopes = {"DELETE": ALL_SCOPES}
    bodies = frozenset({"DELETE"})

    @extend_schema(
        operation_id="deleteTenant",
        request=TenantErasureRequestSerializer,
        responses={202: TenantErasureBegunSerializer},
        tags=TAGS,
    )
    def delete(self, request: Request) -> Response:
        """Erase the tenant with everything that it has: recordings, indexes, questions, usage, keys and members.

        Only an owner may do this, after a sign-in of the last minutes, or a key with all scopes. The tenant is
        suspended at once, so its keys and sessions end. The erasure begins a minute later and cannot be undone. The
        reply has a ticket that opens the certificate.
        """
        tenant_id = self.principal.tenant_id
        slug = parsed(TenantErasureRequestSerializer, request)["slug"]
        with tenant_scope(tenant_id):
            actor = actor_of(request)
        ask_for_erasure(tenant_id, slug=slug, actor=actor)
        body = {**erasure_body(tenant_id, None), "ticket": ticket_of(tenant_id)}
        headers = {"Location": "/v1/tenant/erasure", "Cache-Control": "no-store"}
        return Response(body, status=202, headers=headers)


class TicketAuthentication(BaseAuthentication):
    """Reads `Authorization: Bearer era_…`: the tenant whose erasure the caller may watch."""

    def authenticate(self, request: Request) -> tuple[UUID, UUID]:
        scheme, _, ticket = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise NotAuthenticated("Send the ticket of the erasure: Authorization: Bearer era_…")
        tenant_id = tenant_of(ticket.strip())
        if tenant_id is None:
            raise AuthenticationFailed("The ticket is not valid.", code="invalid_ticket")
        return tenant_id, tenant_id

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="erasure"'


class TicketScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The name of this authentication in the OpenAPI document."""

    target_class = "backend.erasure.api.TicketAuthentication"
    name = "erasureTicket"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "The ticket of a tenant's erasure, `era_…`."}


class TenantErasureView(APIView):
    """For holders of a ticket: no key and no session of an erased tenant is left."""

    authentication_classes = (TicketAuthentication,)
    permission_classes = ()
    metadata_class = None

    @extend_schema(operation_id="getTenantErasure", responses=TenantErasureSerializer, tags=TAGS)
    def get(self, request: Request) -> Response:
        """Get how far the erasure of a tenant is, and its certificate.

        Send the ticket of the erasure in place of an API key.
        """
        tenant_id = cast(UUID, request.auth)
        found = erasure_of(tenant_id)
        if found is None:
            raise not_found()
        return Response(erasure_body(tenant_id, found.certificate), headers={"Cache-Control": "no-store"})


routes: list[Any] = [
    path("tenant", WholeTenantView.as_view()),
    path("tenant/erasure", TenantErasureView.as_view()),
]
