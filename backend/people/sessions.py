"""Browser sessions: how long they last, how fresh they are, and what a sign-in at a tenant's provider covers."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from allauth.account.authentication import get_authentication_records
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, logout
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.crypto import constant_time_compare

if TYPE_CHECKING:
    from backend.people.models import Membership

PROVIDER = "socialaccount"
"""Method of a sign-in at an identity provider, in the records of a session."""
FRESH_SECONDS = 300
"""Time after an authentication in which dangerous acts are allowed."""
TOUCH_SECONDS = 300
"""Resolution of the idle limit: one write per session and 5 minutes is enough."""
_BEGAN, _TOUCHED = "began_at", "touched_at"
_METHODS = "account_authentication_methods"
"""Where allauth keeps the authentications of a session."""
# Pages that a session of a tenant's provider may open. The provider manages the account; a tenant's administrator must
# neither get hold of the person's password or factors through it, nor see or end the person's other sessions.
# An API key belongs to the provider's own tenant, so a page makes one.
_OPEN_TO_PROVIDERS = ("/accounts/logout/", "/accounts/oidc/", "/accounts/keys/", "/accounts/confirm/")


def records(request: Any) -> list[dict[str, Any]]:
    """Return how and when the session's person has authenticated: dicts with `method` and `at` (Unix time)."""
    session = getattr(request, "_request", request)
    found: list[dict[str, Any]] = get_authentication_records(session, session.user)
    return found


def key_of(request: Any) -> str:
    """Return the key of the session, "" if it has none."""
    return getattr(request, "_request", request).session.session_key or ""


def signed_in_at(request: Any) -> float:
    """Return when the session's person has last authenticated, as Unix time."""
    return max((record["at"] for record in records(request)), default=0.0)


def is_fresh(request: Any) -> bool:
    """Whether the person has authenticated in the last FRESH_SECONDS."""
    return time.time() - signed_in_at(request) < FRESH_SECONDS


def is_older(signed_in: float, since: datetime | None) -> bool:
    """Whether a session with its last authentication then has ended, because its sessions had to begin again."""
    return since is not None and signed_in < since.timestamp()


def has_second_factor(request: Any) -> bool:
    """Whether the session began with a second factor or a passkey, or at a provider, which has rules of its own."""
    return any(record["method"] in {"mfa", PROVIDER} for record in records(request))


def provider(request: Any) -> str:
    """Return the name of the provider that the session came from, "" if it came from none."""
    named = (record.get("provider", "") for record in records(request) if record["method"] == PROVIDER)
    return next(named, "")


def covers(request: Any, tenant_id: UUID) -> bool:
    """Whether the session reaches a tenant: the provider of one tenant vouches for nobody in another."""
    # REST framework imports this module while that of public ids, which needs REST framework, is half loaded.
    from backend.api.public_ids import encode

    return provider(request) in {"", encode("tnt", tenant_id)}


def reaches(request: Any, membership: Membership) -> bool:
    """Whether the session covers a membership's tenant, may enter there, and has not ended there."""
    return (
        covers(request, membership.tenant_id)
        and may_enter(request, membership)
        and not is_older(signed_in_at(request), membership.sessions_since)
    )


def may_enter(request: Any, membership: Membership) -> bool:
    """Whether the session is one of the tenant's provider, or the person has accepted the membership."""
    session = getattr(request, "_request", request)
    return bool(provider(request)) or is_accepted(session.user, membership)


def is_accepted(person: Any, membership: Membership) -> bool:
    """Whether the holder of an account has accepted a membership.

    An account that one tenant alone vouches for reaches this tenant. Once its holder has proven the address, they
    decide about a membership that the tenant's provider began.
    """
    if person.vouched_by is not None:
        return bool(membership.tenant_id == person.vouched_by)
    return membership.accepted


def _has_expired(began: float, touched: float, now: float) -> bool:
    return now - began > settings.SESSION_ABSOLUTE_SECONDS or now - touched > settings.SESSION_COOKIE_AGE


def living(keys: Collection[str]) -> set[str]:
    """Return the keys of those sessions whose next request would find its person signed in, in two statements.

    A session ends when its person signs out or ends it, by its limits, by another password, and for its person as a
    whole. The last use is that of the last request: an open reply does not count as one.
    """
    # The models are not there yet when this module is imported.
    from django.contrib.sessions.models import Session

    from backend.people.models import Person

    now = time.time()
    rows = Session.objects.filter(session_key__in=set(keys), expire_date__gt=timezone.now())
    stored = {row.session_key: row.get_decoded() for row in rows}
    people = {
        str(person.id): person
        for person in Person.objects.filter(
            id__in={data[SESSION_KEY] for data in stored.values() if SESSION_KEY in data}, is_active=True
        )
    }
    found = set()
    for key, data in stored.items():
        person = people.get(data.get(SESSION_KEY, ""))
        if person is None or _has_expired(data.get(_BEGAN, now), data.get(_TOUCHED, now), now):
            continue
        if is_older(max((one["at"] for one in data.get(_METHODS, ())), default=0.0), person.sessions_since):
            continue
        hashes = (person.get_session_auth_hash(), *person.get_session_auth_fallback_hash())
        if any(constant_time_compare(data.get(HASH_SESSION_KEY, ""), one) for one in hashes):
            found.add(key)
    return found


class Lifetime:
    """Ends sessions that are idle, older than the absolute limit, or ended for their person; notes the time of use."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.user.is_authenticated:
            now = time.time()
            began = request.session.setdefault(_BEGAN, now)
            touched = request.session.setdefault(_TOUCHED, now)
            if _has_expired(began, touched, now) or is_older(signed_in_at(request), request.user.sessions_since):
                logout(request)
            elif now - touched > TOUCH_SECONDS:
                request.session[_TOUCHED] = now
        return self.get_response(request)


class ProvidersAccounts:
    """Closes the pages of an account to sessions that a tenant's provider has begun."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        path = request.path
        managed = path.startswith("/accounts/") and path != "/accounts/" and not path.startswith(_OPEN_TO_PROVIDERS)
        if managed and request.user.is_authenticated and provider(request):
            return render(request, "people/managed.html", status=403)
        return self.get_response(request)


def second_factor_is_set_up(person: Any) -> bool:
    return bool(is_mfa_enabled(person))
