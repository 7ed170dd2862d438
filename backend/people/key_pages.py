"""/accounts/keys/: make and revoke API keys, with the checks of the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods
from rest_framework.exceptions import PermissionDenied

from backend.accounts.bodies import audit_details
from backend.accounts.made_things import MadeThings
from backend.api.limits import rate_limits
from backend.api.problems import Problem
from backend.api.public_ids import encode, parse
from backend.audit.services import record
from backend.people import account_log, home, queries, roles
from backend.people.authentication import principal_in
from backend.people.forms import KeyForm
from backend.people.models import Membership
from backend.tenancy import keys, makers, services
from backend.tenancy.authentication import Principal
from backend.tenancy.queries import living_keys
from backend.tenancy.refusals import Refused

Act = Callable[[HttpRequest, Principal, Membership], HttpResponse]


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def key_page(request: HttpRequest) -> HttpResponse:
    """Make an API key that acts for the signed-in member, and show it once."""
    return _as_member(request, _make)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def revocation_page(request: HttpRequest) -> HttpResponse:
    """End an API key at once, as DELETE /v1/api-keys/{key_id} does."""
    return _as_member(request, _revoke)


def _as_member(request: HttpRequest, act: Act) -> HttpResponse:
    """Let the signed-in person act on the keys of the tenant that the form names, or show why not."""
    person: Any = request.user
    if request.method != "POST":
        return HttpResponseRedirect(reverse("people_home"))
    slug = request.POST.get("tenant", "")
    membership = next((row for row in queries.memberships_of(person.id) if row.tenant.slug == slug), None)
    try:
        caller = principal_in(request, person, membership)
        rate_limits.take_of(person.id, caller.tenant_requests_per_minute).check()
        if membership is None or not caller.may(home.MAKES_KEYS):
            raise PermissionDenied("Your role neither makes nor revokes API keys.")
        if not caller.fresh:
            return HttpResponseRedirect(home.confirm_path(request, home.home_path(slug)))
        return act(request, caller, membership)
    except PermissionDenied as denied:
        return home.refused(request, str(denied.detail), 403)
    except (Problem, Refused) as error:
        return home.refused(request, error.detail, error.status)


@sensitive_variables("text")
def _make(request: HttpRequest, caller: Principal, membership: Membership) -> HttpResponse:
    person: Any = request.user
    form = KeyForm(request.POST)
    if not form.is_valid():
        return home.shown(request, person, membership.tenant.slug, form, status=400)
    with home.entered(caller):
        key, text = services.issue_api_key(
            name=form.cleaned_data["name"],
            scopes=_scopes(form.cleaned_data["kind"], caller),
            test=form.cleaned_data["kind"] == "test",
            maker=caller,
        )
        actor = account_log.actor_of(request, person)
        record("api_key.created", actor=actor, object_id=encode("key", key.id), details=audit_details(key))
    context = {"key": key, "text": text, "url": settings.PUBLIC_URL, "tenant": membership.tenant}
    return render(request, "people/key.html", context, status=201)


def _scopes(kind: str, caller: Principal) -> frozenset[str]:
    """Return the scopes of a kind of KeyForm. Every role that makes keys has those of the kinds `work` and `read`."""
    if kind == "all":
        return caller.scopes
    if kind == "test":
        return frozenset(scope for scope in keys.TEST_SCOPES if caller.may(scope))
    return roles.READ if kind == "read" else roles.ASK | {"videos:write"}


def _revoke(request: HttpRequest, caller: Principal, membership: Membership) -> HttpResponse:
    person: Any = request.user
    key_id = parse("key", request.POST.get("key", ""))
    with home.entered(caller):
        key = living_keys().filter(id=key_id).first() if key_id else None
        if key is None:
            raise Refused("not_found", "There is no such key: perhaps somebody else has revoked it.", status=404)
        made = MadeThings.divided(makers.made_by(makers.key(key.id, descendants=False)), all_end=False)
        ended = services.revoke_api_key(api_key_id=key.id, by=caller)
        details = {"keys_ended": ended, "descendants": False, **made.details}
        actor = account_log.actor_of(request, person)
        record("api_key.revoked", actor=actor, object_id=encode("key", key.id), details=details)
    return HttpResponseRedirect(home.home_path(membership.tenant.slug))
