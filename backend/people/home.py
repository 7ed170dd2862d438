"""/accounts/: what waits for a person, and a tenant as its members see it, by role.

A page does for a member what the API does, with the same checks: see principal_in() of people.authentication.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.utils import get_next_redirect_url
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from rest_framework.exceptions import PermissionDenied

from backend.api.public_ids import encode, parse
from backend.billing.models import UsageMeter
from backend.billing.queries.usage import Money, usage
from backend.billing.rates import plain
from backend.people import account_log, queries, roles, sessions
from backend.people.app_page import app_path
from backend.people.authentication import principal_in
from backend.people.forms import KeyForm
from backend.people.models import Membership, Person
from backend.people.services import invitations, members
from backend.tenancy.authentication import Principal
from backend.tenancy.callers import acting_for
from backend.tenancy.context import bounded_statements, limited_to, tenant_scope
from backend.tenancy.models import Tenant
from backend.tenancy.months import month_of
from backend.tenancy.queries import living_keys
from backend.tenancy.refusals import Refused
from backend.webhooks.models import Delivery
from backend.webhooks.queries import deliveries

SHOWN = 10
"""Maximum number of webhook deliveries on the page."""
SHOWN_KEYS = 100
"""Maximum number of API keys on the page."""
MAKES_KEYS = "keys:write"


@dataclass(frozen=True, slots=True)
class Decision:
    """An invitation, or a membership that a tenant's provider began, about which a person decides. id: public."""

    id: str
    tenant: Tenant
    role: str
    by: str
    is_member: bool


@dataclass(frozen=True, slots=True)
class NamedKey:
    """An API key without its text. id: public. hint: the beginning of the text."""

    id: str
    name: str
    hint: str
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class UsedMeter:
    """Usage of one meter, as it is shown."""

    name: str
    quantity: str
    charge: str


@dataclass(frozen=True, slots=True)
class MonthUsage:
    """Usage since the month began (UTC). charges: one for each currency."""

    since: datetime
    meters: Sequence[UsedMeter]
    charges: Sequence[str]


@dataclass(frozen=True, slots=True)
class TenantHome:
    """A tenant as one member sees it. What the member's role does not show is None.

    refusal: why the session does not get in, "" if it does. confirm_path: where the person confirms who it is before
    a key is made; "" while the sign-in is fresh.
    """

    membership: Membership
    role_means: str
    refusal: str = ""
    confirm_path: str = ""
    keys: Sequence[NamedKey] | None = None
    usage: MonthUsage | None = None
    deliveries: Sequence[Delivery] | None = None


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def home(request: HttpRequest) -> HttpResponse:
    """Show what waits for the signed-in person's decision, and one of the tenants that the session reaches."""
    person: Any = request.user
    if request.method == "POST":
        if sessions.provider(request):
            return render(request, "people/managed.html", status=403)
        return _decide(request, person)
    return shown(request, person, request.GET.get("tenant", ""), KeyForm())


def refused(request: HttpRequest, reason: str, status: int) -> HttpResponse:
    """Say why an act was refused."""
    return render(request, "people/refused.html", {"reason": reason}, status=status)


def shown(request: HttpRequest, person: Person, slug: str, form: KeyForm, *, status: int = 200) -> HttpResponse:
    """Show the page with one tenant, the first if the named one is none of those that the session reaches."""
    rows = queries.memberships_of(person.id)
    reached = [row for row in rows if sessions.reaches(request, row)]
    chosen = next((row for row in reached if row.tenant.slug == slug), reached[0] if reached else None)
    provided = bool(sessions.provider(request))
    try:
        tenant = None if chosen is None else _tenant_home(request, person, chosen)
    except Refused as error:
        return refused(request, error.detail, error.status)
    context = {
        "memberships": reached,
        "home": tenant,
        "form": form,
        "provided": provided,
        # A provider's session decides nothing for the person: the provider may be in anybody's hands.
        "waiting": [] if provided else _waiting(person, rows),
    }
    return render(request, "people/home.html", context, status=status)


def _tenant_home(request: HttpRequest, person: Person, membership: Membership) -> TenantHome:
    """Return what a member's role shows of a tenant. Raises TenantMoving."""
    means = roles.MEANING[membership.role]
    try:
        caller = principal_in(request, person, membership)
    except PermissionDenied as denied:
        return TenantHome(membership, means, refusal=str(denied.detail))
    with entered(caller):
        return TenantHome(
            membership,
            means,
            confirm_path="" if caller.fresh else confirm_path(request, home_path(membership.tenant.slug)),
            keys=_keys() if caller.may(MAKES_KEYS) else None,
            usage=_month() if caller.may("usage:read") else None,
            deliveries=_last_deliveries() if caller.may("webhooks:write") else None,
        )


@contextmanager
def entered(caller: Principal) -> Iterator[None]:
    """Enter a member's tenant, as a request of the API does."""
    with (
        bounded_statements(settings.REQUEST_STATEMENT_SECONDS),
        limited_to(caller.collections),
        acting_for(caller.caller),
        tenant_scope(caller.tenant_id),
    ):
        yield


def _keys() -> list[NamedKey]:
    newest = living_keys().order_by("-id")[:SHOWN_KEYS]
    return [NamedKey(encode("key", key.id), key.name, f"{key.hint}…", key.last_used_at) for key in newest]


def _last_deliveries() -> list[Delivery]:
    return list(deliveries().select_related("endpoint").order_by("-id")[:SHOWN])


def _month() -> MonthUsage:
    now = timezone.now()
    since, _ = month_of(now)
    used = usage(start=since, end=now, group_by=(), limit=len(UsageMeter))
    meters = [
        UsedMeter(UsageMeter(line.meter).label.capitalize(), plain(line.quantity), _money(line.charge))
        for line in used.lines
    ]
    return MonthUsage(since, meters, [_money(one) for one in used.charges])


def _money(money: Money) -> str:
    return f"{plain(money.amount)} {money.currency}"


@never_cache
@login_required
@require_safe
def confirmation_page(request: HttpRequest) -> HttpResponse:
    """Redirect to where the person shows again who it is. `next`: the address to come back to."""
    return HttpResponseRedirect(confirm_path(request, get_next_redirect_url(request) or reverse("app")))


def home_path(slug: str) -> str:
    """Return the address of the page with one tenant."""
    return f"{reverse('people_home')}?{urlencode({'tenant': slug})}"


def confirm_path(request: HttpRequest, back_to: str) -> str:
    """Return where the person shows again who it is, and comes back to an address."""
    back = urlencode({"next": back_to})
    if provider := sessions.provider(request):
        return f"{reverse('openid_connect_login', args=[provider])}?{back}"
    known = get_adapter().get_reauthentication_methods(request.user)
    # Whoever has neither a password nor a factor signs in again, by a mailed code.
    return f"{reverse('account_reauthenticate' if known else 'account_logout')}?{back}"


def _waiting(person: Person, rows: list[Membership]) -> list[Decision]:
    begun = [
        Decision(encode("mem", row.id), row.tenant, row.get_role_display(), "", is_member=True)
        for row in rows
        if not sessions.is_accepted(person, row)
    ]
    offered = [
        Decision(encode("inv", row.id), row.tenant, row.get_role_display(), row.created_by_name, is_member=False)
        for row in queries.open_invitations_for(person.email)
    ]
    return begun + offered


def _decide(request: HttpRequest, person: Person) -> HttpResponse:
    """Accept or decline an invitation or a membership that a tenant's provider began, as the form names it."""
    accepts, named = "accept" in request.POST, request.POST.get("accept") or request.POST.get("decline") or ""
    invitation_id, membership_id = parse("inv", named), parse("mem", named)
    rows = queries.memberships_of(person.id)
    invitation = next((row for row in queries.open_invitations_for(person.email) if row.id == invitation_id), None)
    membership = next((row for row in rows if row.id == membership_id), None)
    others = [one for one in _waiting(person, rows) if one.id != named]
    origin = account_log.actor_of(request, person)
    joined = invitation or membership
    try:
        if invitation is not None and accepts:
            invitations.accept(invitation, person, origin=origin)
        elif invitation is not None:
            invitations.decline(invitation, origin=origin)
        elif membership is not None and accepts:
            members.accept(membership, person, origin=origin)
        elif membership is not None and not sessions.is_accepted(person, membership):
            members.decline(membership, origin=origin)
    except Refused as error:
        return refused(request, error.detail, error.status)
    if joined is not None and accepts and not others:
        return HttpResponseRedirect(app_path(joined.tenant))
    return HttpResponseRedirect(reverse("people_home"))
