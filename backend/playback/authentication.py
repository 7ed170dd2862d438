"""`?token=…`: opens the rendition of one video without a key, because players send no header."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from backend.api.problems import not_found
from backend.api.public_ids import decode
from backend.playback.services.tokens import holder_of, tenant_of
from backend.tenancy.authentication import Principal, standing_of
from backend.tenancy.callers import Caller
from backend.tenancy.models import Tenant

TOKEN = "token"
_MAKING = ("videos:read", "questions:read", "questions:write")
"""Scopes of the replies that have tokens: whoever lost all of them plays nothing any more."""


class TokenAuthentication(BaseAuthentication):
    """Reads the token of the video that the path names. A token that opens nothing is a resource that is not there.

    A token ends with the key or the membership that it was made for, and sees no more than that sees now.
    """

    def authenticate(self, request: Request) -> tuple[Principal, Principal] | None:
        token = request.query_params.get(TOKEN)
        if token is None:
            return None
        # Raises Http404 for what is no id.
        video_id = decode("vid", str(request.parser_context["kwargs"]["video_id"]))
        tenant_id = tenant_of(token, video_id)
        if tenant_id is None:
            raise not_found()
        rows = Tenant.objects.using("dispatch").filter(id=tenant_id, suspended_at=None, fence="")
        tenant: Tenant | None = rows.first()
        if tenant is None:
            raise not_found()
        principal = Principal(
            tenant_id=tenant.id,
            api_key_id=None,
            scopes=frozenset({"videos:read"}),
            collections=_collections_of(tenant_id, holder_of(token)),
            tenant_requests_per_minute=tenant.requests_per_minute,
            origins=tuple(tenant.allowed_origins),
        )
        return principal, principal

    def authenticate_header(self, request: Request) -> str:
        # rest_framework asks the first way of authentication, and answers 403 for 401 if this is empty.
        return 'Bearer realm="api"'


def _collections_of(tenant_id: UUID, holder: Caller) -> tuple[UUID, ...] | None:
    """Return the collections that a token's holder is limited to now; None for all. Raises 404 for one that ended."""
    if holder == Caller():
        return None
    standing = standing_of(tenant_id, holder)
    if standing is None or not any(standing.may(scope) for scope in _MAKING):
        raise not_found()
    return standing.collections


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The name of this authentication in the OpenAPI document."""

    target_class = "backend.playback.authentication.TokenAuthentication"
    name = "playbackToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey", "in": "query", "name": TOKEN,
            "description": "The token in the signed URLs of a rendition. It opens one video for up to six hours.",
        }  # fmt: skip
