"""API keys on requests: the caller, its tenant and its scopes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
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

from backend.tenancy import keys, networks, sandboxes
from backend.tenancy.callers import Caller
from backend.tenancy.models import ApiKey, Tenant
from backend.tenancy.refusals import TenantMoving

logger = logging.getLogger(__name__)
# last_used_at shows whether a key is in use, not the exact time: one write per key and minute is enough.
USED_RESOLUTION = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of a request: an API key, or a member of the tenant with a browser session.

    expires_at, allowed_ips, requests_per_minute: limits of a key, which no key that it makes may pass. allowed_ips:
    networks; empty for everywhere. name, role: of a member. collections: ids of the collections that a member is
    limited to; None for all. fresh: whether the caller may do dangerous acts now; a member must have signed in lately.
    signed_in_at: Unix time of a member's last authentication. session: key of a member's session.
    tenant_requests_per_minute: limit that staff set for the tenant, and for each of its members; None for that of the
    service.
    """

    tenant_id: UUID
    api_key_id: UUID | None
    scopes: frozenset[str]
    expires_at: datetime | None = None
    allowed_ips: tuple[str, ...] = ()
    requests_per_minute: int | None = None
    person_id: UUID | None = None
    name: str = ""
    role: str = ""
    collections: tuple[UUID, ...] | None = None
    fresh: bool = True
    signed_in_at: float = 0.0
    session: str = field(default="", repr=False)
    tenant_requests_per_minute: int | None = None
    # Origins of web pages that may read replies to this caller.
    origins: tuple[str, ...] = ()

    @property
    def caller(self) -> Caller:
        return Caller(self.api_key_id, self.person_id, self.signed_in_at)

    def may(self, scope: str) -> bool:
        return scope == keys.ANYBODY or bool(self.scopes & {keys.ALL_SCOPES, scope, keys.IMPLIED.get(scope, scope)})


class KeyRefused(AuthenticationFailed):
    """A key that is not accepted, in the same words for every reason.

    reason, key_id, tenant_id: why, the key's public id and its tenant, for the log alone; None where nobody knows.
    """

    def __init__(self, reason: str, key: ApiKey | None = None) -> None:
        super().__init__("The API key is not valid.")
        self.reason, self.key_id, self.tenant_id = reason, key and key.public_id, key and key.tenant_id


class KeyElsewhere(PermissionDenied):
    """A valid key from a network that it may not be used from. reason, key_id, tenant_id: as in KeyRefused."""

    def __init__(self, key: ApiKey) -> None:
        super().__init__("This API key may not be used from your address.", code="address_not_allowed")
        self.reason, self.key_id, self.tenant_id = "other_address", key.public_id, key.tenant_id


class ApiKeyAuthentication(BaseAuthentication):
    """Reads `Authorization: Bearer vk_live_…` or `X-Api-Key: vk_live_…`, and `vk_test_…` likewise."""

    def authenticate(self, request: Request) -> tuple[Principal, Principal] | None:
        text = _presented(request)
        if text is None:
            return None
        principal = resolve(text, address=networks.client_address(request))
        return principal, principal

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


def _presented(request: Request) -> str | None:
    scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return credentials.strip()
    return request.headers.get("X-Api-Key")


def resolve(text: str, *, address: str = "") -> Principal:
    """Return the holder of a presented key. address: that of the client, "" if it is unknown.

    The tenant is unknown until the key is read, so this reads two tables through the dispatch role. Raises
    AuthenticationFailed with the same words whether the key is unknown, its secret is wrong, it has ended, or its
    tenant is suspended; PermissionDenied `address_not_allowed` for a valid key that another network must use;
    TenantMoving while the tenant moves to another installation. The reason is for the log (KeyRefused).
    """
    parsed = keys.parse(text)
    if parsed is None:
        raise KeyRefused("malformed")
    key: ApiKey | None = ApiKey.unscoped.using("dispatch").filter(public_id=parsed.public_id).first()
    # An unknown key costs the same HMAC as a known one.
    digest, pepper_id = (bytes(key.digest), key.pepper_id) if key else (b"", keys.current_pepper_id())
    matches = keys.matches(parsed.text, digest=digest, pepper_id=pepper_id)
    if key is None:
        raise KeyRefused("unknown")
    if not matches:
        raise KeyRefused("wrong_secret", key)
    principal = _holder_of(key)
    if key.allowed_ips and not networks.covers(key.allowed_ips, address):
        raise KeyElsewhere(key)
    _note_use(key, address)
    return principal


def _holder_of(key: ApiKey) -> Principal:
    """Return the holder of a key. Raises KeyRefused if the key or its tenant's service has ended, and TenantMoving."""
    now = timezone.now()
    if key.revoked_at is not None and key.revoked_at <= now:
        raise KeyRefused("revoked", key)
    if key.expires_at is not None and key.expires_at <= now:
        raise KeyRefused("expired", key)
    tenant: Tenant | None = Tenant.objects.using("dispatch").filter(id=key.tenant_id, suspended_at=None).first()
    if tenant is None:
        raise KeyRefused("tenant_suspended", key)
    if tenant.fence:
        raise TenantMoving
    return Principal(
        tenant_id=sandboxes.sandbox_of(tenant) if key.test else tenant.id,
        api_key_id=key.id,
        scopes=frozenset(key.scopes),
        expires_at=key.expires_at,
        allowed_ips=tuple(key.allowed_ips),
        requests_per_minute=key.requests_per_minute,
        tenant_requests_per_minute=tenant.requests_per_minute,
        origins=tuple(tenant.allowed_origins),
    )


StandingOf = Callable[[UUID, Caller], Principal | None]
_standings: list[StandingOf] = []


def register_standing(standing: StandingOf) -> None:
    """Let a package above this one say what a caller of its kind may do now; None for one that has ended."""
    if standing not in _standings:
        _standings.append(standing)


def standing_of(tenant_id: UUID, caller: Caller) -> Principal | None:
    """Return what a key or a member that was authenticated earlier may do now, from any address.

    None if it has ended since, or its tenant was suspended. Raises TenantMoving.
    """
    if caller.api_key_id is None:
        return next((found for standing in _standings if (found := standing(tenant_id, caller)) is not None), None)
    key = ApiKey.unscoped.using("dispatch").filter(id=caller.api_key_id).first()
    try:
        holder = None if key is None else _holder_of(key)
    except KeyRefused:
        return None
    # A key works in one tenant alone: its own, or the sandbox of that tenant.
    return holder if holder is not None and holder.tenant_id == tenant_id else None


Endings = Callable[[Collection[Principal]], set[Principal]]
_endings: list[Endings] = []


def register_endings(endings: Endings) -> None:
    """Let a package above this one say which callers of its kind have ended."""
    if endings not in _endings:
        _endings.append(endings)


def ended(callers: Collection[Principal]) -> set[Principal]:
    """Return the callers whose key or membership has ended since they were authenticated, or whose tenant was
    suspended."""
    with_keys = {caller for caller in callers if caller.person_id is None}
    members = [caller for caller in callers if caller.person_id is not None]
    return _ended_keys(with_keys).union(*(endings(members) for endings in _endings if members))


def _ended_keys(callers: Collection[Principal]) -> set[Principal]:
    now = timezone.now()
    living = ApiKey.unscoped.using("dispatch").filter(
        Q(revoked_at=None) | Q(revoked_at__gt=now),
        Q(expires_at=None) | Q(expires_at__gt=now),
        id__in={caller.api_key_id for caller in callers},
        tenant__suspended_at=None,
    )
    ids = set(living.values_list("id", flat=True))
    return {caller for caller in callers if caller.api_key_id not in ids}


def _note_use(key: ApiKey, address: str) -> None:
    now = timezone.now()
    if key.last_used_at is not None and key.last_used_at > now - USED_RESOLUTION:
        return
    try:
        # Conditional, so that only one of many concurrent requests writes.
        stale = Q(last_used_at=None) | Q(last_used_at__lte=now - USED_RESOLUTION)
        ApiKey.unscoped.using("dispatch").filter(stale, tenant_id=key.tenant_id, id=key.id).update(
            last_used_at=now, last_used_ip=address or None
        )
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
            caller = "Your role" if request.auth.person_id else "This API key"
            raise PermissionDenied(f"{caller} lacks the scope {scope}.", code="insufficient_scope")
        if (scope in keys.DANGEROUS or method == "DELETE") and not request.auth.fresh:
            raise PermissionDenied(
                "Confirm that it is you at /accounts/confirm/, then send the request again.",
                code="reauthentication_required",
            )
        return True


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The name of this authentication in the OpenAPI document."""

    target_class = "backend.tenancy.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key, `vk_live_…`, or `vk_test_…` for test objects.",
        }
