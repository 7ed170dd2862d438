"""API keys on requests: the caller, its tenant and its scopes."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import DatabaseError
from django.db.models import Q
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from backend.tenancy import keys
from backend.tenancy.models import ApiKey, Tenant
from backend.tenancy.refusals import TenantMoving

logger = logging.getLogger(__name__)
# last_used_at shows whether a key is in use, not the exact time: one write per key and minute is enough.
USED_RESOLUTION = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated API key."""

    tenant_id: UUID
    api_key_id: UUID
    scopes: frozenset[str]

    def may(self, scope: str) -> bool:
        return keys.ALL_SCOPES in self.scopes or scope in self.scopes


class ApiKeyAuthentication(BaseAuthentication):
    """Reads `Authorization: Bearer vk_live_…` or `X-Api-Key: vk_live_…`."""

    def authenticate(self, request: Request) -> tuple[Principal, Principal] | None:
        text = _presented(request)
        if text is None:
            return None
        principal = resolve(text)
        return principal, principal

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


def _presented(request: Request) -> str | None:
    scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return credentials.strip()
    return request.headers.get("X-Api-Key")


def resolve(text: str) -> Principal:
    """Return the holder of a presented key.

    The tenant is unknown until the key is read, so this reads two tables through the dispatch role. Raises
    AuthenticationFailed with the same words whether the key is unknown, its secret is wrong, or it has ended, and
    TenantMoving while the tenant moves to another cell.
    """
    refused = AuthenticationFailed("The API key is not valid.")
    parsed = keys.parse(text)
    if parsed is None:
        raise refused
    key: ApiKey | None = ApiKey.unscoped.using("dispatch").filter(public_id=parsed.public_id).first()
    # An unknown key costs the same HMAC as a known one.
    digest, pepper_id = (bytes(key.digest), key.pepper_id) if key else (b"", keys.current_pepper_id())
    if not keys.matches(parsed.text, digest=digest, pepper_id=pepper_id) or key is None:
        raise refused
    now = timezone.now()
    if key.revoked_at is not None and key.revoked_at <= now:
        raise refused
    if key.expires_at is not None and key.expires_at <= now:
        raise refused
    tenant = Tenant.objects.using("dispatch").filter(id=key.tenant_id, suspended_at=None).first()
    if tenant is None:
        raise refused
    if tenant.fence:
        raise TenantMoving
    _note_use(key)
    return Principal(tenant_id=key.tenant_id, api_key_id=key.id, scopes=frozenset(key.scopes))


def _note_use(key: ApiKey) -> None:
    now = timezone.now()
    if key.last_used_at is not None and key.last_used_at > now - USED_RESOLUTION:
        return
    try:
        # Conditional, so that only one of many concurrent requests writes.
        stale = Q(last_used_at=None) | Q(last_used_at__lte=now - USED_RESOLUTION)
        ApiKey.unscoped.using("dispatch").filter(stale, tenant_id=key.tenant_id, id=key.id).update(last_used_at=now)
    except DatabaseError:
        logger.warning("last use of key %s was not noted", key.public_id, exc_info=True)


class HasScope(BasePermission):
    """Requires the scope that the view's `scopes` names for the method; a method without a scope is refused."""

    def has_permission(self, request: Request, view: Any) -> bool:
        method = (request.method or "").upper()
        if not isinstance(request.auth, Principal):
            raise NotAuthenticated("Send an API key: Authorization: Bearer vk_live_…")
        if method != "OPTIONS" and not hasattr(view, method.lower()):
            return True  # answered with 405
        if method == "OPTIONS":
            return True  # answered with 405, since views carry no metadata
        scope = view.scopes.get("GET" if method == "HEAD" else method)
        if scope is None:
            raise PermissionDenied("No API key can do this.", code="insufficient_scope")
        if not request.auth.may(scope):
            raise PermissionDenied(f"This API key lacks the scope {scope}.", code="insufficient_scope")
        return True


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The name of this authentication in the OpenAPI document."""

    target_class = "backend.tenancy.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An API key, `vk_live_…`."}
