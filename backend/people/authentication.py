"""Browser sessions on requests of the API: the same Principal that a key gives, for a member of the named tenant.

Every request names its tenant (`AVA-Tenant: slug`, or `?tenant=` where a page cannot send headers) and is checked
against the memberships of that moment. Nothing about a tenant is kept in the session, so two tabs can show two tenants
and a removed member is refused at once.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from backend.people import queries, sessions
from backend.people.models import Membership, Person
from backend.people.roles import SCOPES_OF
from backend.tenancy.authentication import Principal
from backend.tenancy.callers import Caller

HEADER = "AVA-Tenant"
PARAMETER = "tenant"
# Methods that a link or a page can trigger without headers, and that change nothing.
_LINKED = frozenset({"GET", "HEAD"})


class MemberAuthentication(SessionAuthentication):
    """Reads the session cookie; unsafe methods also need the token of the CSRF cookie in X-CSRFToken."""

    def authenticate(self, request: Request) -> tuple[Person, Principal] | None:
        person = signed_in(request)
        if person is None:
            return None
        self.enforce_csrf(request)
        slug = named_tenant(request)
        if not slug:
            raise PermissionDenied(f"Name the tenant in the header {HEADER}.", code="tenant_required")
        return person, principal_in(request, person, queries.membership_of(person.id, slug))


class PersonAuthentication(SessionAuthentication):
    """Reads the session cookie for requests that belong to a person and to no tenant."""

    def authenticate(self, request: Request) -> tuple[Person, None] | None:
        person = signed_in(request)
        if person is None:
            return None
        self.enforce_csrf(request)
        return person, None

    def authenticate_header(self, request: Request) -> str:
        return 'Session realm="accounts"'


def signed_in(request: Request) -> Person | None:
    """Return the person of the request's session; None without one, for staff, and if the request brings a key."""
    if "Authorization" in request.headers or "X-Api-Key" in request.headers:
        return None
    person = getattr(request._request, "user", None)
    if not isinstance(person, Person):
        person = getattr(person, "_wrapped", None) if getattr(person, "is_authenticated", False) else None
    return person if isinstance(person, Person) and person.is_active and not person.is_staff else None


def named_tenant(request: Request) -> str:
    """Return the slug of the tenant that the request names, "" if it names none."""
    sent = request.headers.get(HEADER, "")
    if not sent and request.method in _LINKED:
        sent = request.query_params.get(PARAMETER, "")
    return sent if sent.isascii() and len(sent) <= 63 else ""


def principal_in(request: Request | HttpRequest, person: Person, membership: Membership | None) -> Principal:
    """Return the caller that a session's person is in a tenant. membership: None if the person has none there.

    Raises PermissionDenied `not_a_member`, `membership_not_accepted`, `session_ended` or `second_factor_required`.
    """
    if membership is None or not sessions.covers(request, membership.tenant_id):
        # The same for a tenant that does not exist.
        raise PermissionDenied("You are not a member of this tenant.", code="not_a_member")
    if not sessions.may_enter(request, membership):
        raise PermissionDenied("Accept the membership at /accounts/ first.", code="membership_not_accepted")
    if not sessions.reaches(request, membership):
        raise PermissionDenied("This session has ended for the tenant: sign in again.", code="session_ended")
    settings = queries.settings_of(membership.tenant_id)
    if settings is not None and settings.require_second_factor and not sessions.has_second_factor(request):
        raise PermissionDenied(
            "This tenant demands a second factor: set one up and sign in with it.", code="second_factor_required"
        )
    return Principal(
        tenant_id=membership.tenant_id,
        api_key_id=None,
        scopes=SCOPES_OF[membership.role],
        person_id=person.id,
        name=person.email,
        role=membership.role,
        collections=queries.standing_of(membership).collections,
        tenant_requests_per_minute=membership.tenant.requests_per_minute,
        fresh=sessions.is_fresh(request),
        signed_in_at=sessions.signed_in_at(request),
        session=sessions.key_of(request),
    )


def member_standing(tenant_id: UUID, caller: Caller) -> Principal | None:
    """Return what a person may do in a tenant now, as one who signed in when the caller did.

    None if the membership, the account or such sessions have ended. Signing out in one browser ends none of them.
    """
    if caller.person_id is None:
        return None
    standing = queries.lasting({(tenant_id, caller.person_id)}).get((tenant_id, caller.person_id))
    person: Person | None = Person.objects.filter(id=caller.person_id, is_active=True).first()
    if standing is None or person is None:
        return None
    if any(sessions.is_older(caller.signed_in_at, since) for since in (standing.sessions_since, person.sessions_since)):
        return None
    return Principal(
        tenant_id=tenant_id,
        api_key_id=None,
        scopes=SCOPES_OF[standing.role],
        person_id=person.id,
        role=standing.role,
        collections=standing.collections,
        signed_in_at=caller.signed_in_at,
    )


def ended_members(callers: Collection[Principal]) -> set[Principal]:
    """Return the people among the callers who could not begin the same request any more.

    Their membership, session, or tenant's service has ended, or the membership has another role or other collections.
    """
    people = {caller: (caller.tenant_id, person) for caller in callers if (person := caller.person_id) is not None}
    lasting = queries.lasting(set(people.values()))
    living = sessions.living({caller.session for caller in people})
    return {
        caller
        for caller, pair in people.items()
        if caller.session not in living or not _stands(caller, lasting.get(pair))
    }


def _stands(caller: Principal, now: queries.Standing | None) -> bool:
    """Whether a membership still allows what it allowed when the caller was authenticated."""
    if now is None or sessions.is_older(caller.signed_in_at, now.sessions_since):
        return False
    return (caller.role, caller.collections) == (now.role, now.collections)


class MemberScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The name of this authentication in the OpenAPI document."""

    target_class = "backend.people.authentication.MemberAuthentication"
    name = "session"
    description = (
        f"A browser session, with the tenant's slug in the header `{HEADER}`; unsafe methods also need the value of "
        "the cookie `__Host-ava_csrf` in the header `X-CSRFToken`."
    )

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "__Host-ava_session", "description": self.description}


class PersonScheme(MemberScheme):  # type: ignore[no-untyped-call]
    target_class = "backend.people.authentication.PersonAuthentication"
    name = "person"
    description = "A browser session of a person, without a tenant."
