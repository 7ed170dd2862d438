"""/accounts/…: django-allauth's pages, a member's home, and the pages of invitations and notices."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.internal.decorators import login_not_required
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.socialaccount.providers.openid_connect import views as oidc
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.db import router, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, URLResolver, include, path
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from requests import RequestException

from backend.api.public_ids import parse
from backend.people import account_log, home, key_pages, queries, roles, sessions
from backend.people.account_rules import INVITED
from backend.people.app_page import app_path
from backend.people.models import Invitation, Person, written_email
from backend.people.provider_exchanges import TooManyExchanges, exchange
from backend.people.services import departures, invitations
from backend.people.try_again import try_again
from backend.tenancy.link_tokens import digest_of
from backend.tenancy.networks import client_address
from backend.tenancy.refusals import Refused
from backend.webhooks import named_addresses

logger = logging.getLogger(__name__)
Page = Callable[[HttpRequest], HttpResponse]
_confirmed: Callable[[Page], Page] = reauthentication_required(allow_get=True)

AGAIN_S = 2
"""Seconds after which a sign-in that was refused for the number of others is tried again."""


@never_cache
@require_http_methods(["GET", "POST"])
def invitation_page(request: HttpRequest, token: str) -> HttpResponse:
    """Show who invites to what; a signed-in holder of the address accepts with one press."""
    invitation = queries.open_invitation(digest_of(token))
    if invitation is None:
        return render(request, "people/invitation_ended.html", status=404)
    person = _person(request.user)
    if request.method == "POST" and person is not None:
        return _accept(request, invitation)
    request.session[INVITED] = token
    context = {
        "invitation": invitation,
        "role_means": roles.MEANING[invitation.role],
        "wrong_account": person is not None and person.email != invitation.email,
        "next": urlencode({"next": request.path}),
    }
    return render(request, "people/invitation.html", context)


def _person(user: Any) -> Person | None:
    return user if getattr(user, "is_authenticated", False) else None


def _accept(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    person: Any = request.user
    if sessions.provider(request):
        # Another tenant's provider has vouched for the address, not its holder.
        return render(request, "people/managed.html", status=403)
    try:
        invitations.accept(invitation, person, origin=account_log.actor_of(request, person))
    except Refused as refused:
        return render(request, "people/refused.html", {"reason": refused.detail}, status=refused.status)
    request.session.pop(INVITED, None)
    return HttpResponseRedirect(app_path(invitation.tenant))


def _checked(view: Callable[..., HttpResponse], *, at_once: bool) -> Callable[..., HttpResponse]:
    """Answer with a page when a tenant's provider is away, sends what the protocol does not allow, or is busy.

    at_once: whether the exchange with the provider begins before the view, which accepts its state once. A refused
    request can then be sent again.
    """

    def checked(request: HttpRequest, provider_id: str) -> HttpResponse:
        tenant_id = parse("tnt", provider_id)
        if tenant_id is None:
            raise Http404
        try:
            with exchange(tenant_id) as begun:
                if at_once:
                    begun.begin()
                reply: HttpResponse = view(request, provider_id)
            return reply
        except TooManyExchanges:
            logger.warning("sign-in by provider %s is refused: too many at once", provider_id)
            reason = "Too many people sign in by an identity provider at this moment."
            return try_again(request, reason, status=429, seconds=AGAIN_S)
        except (RequestException, ValueError, KeyError, TypeError, AttributeError) as error:
            logger.warning("sign-in by provider %s failed: %s", provider_id, type(error).__name__)
            reason = "The identity provider of your tenant cannot be reached, or its replies are not valid."
            return render(request, "people/refused.html", {"reason": reason}, status=401)

    exempt: Callable[..., HttpResponse] = login_not_required(checked)
    return exempt


@never_cache
@login_required
@_confirmed
@require_http_methods(["GET", "POST"])
def delete_page(request: HttpRequest) -> HttpResponse:
    """Ask for the address, and delete the account of the person who types it after confirming who it is."""
    person: Any = request.user
    typed = written_email(request.POST.get("email", ""))
    refused = ""
    if request.method == "POST" and typed != person.email:
        refused = "This is not the address of your account."
    elif request.method == "POST" and not sessions.is_fresh(request):
        refused = "Your sign-in is too old: sign out, sign in again and repeat this."
    elif request.method == "POST":
        try:
            departures.delete_account(person, origin=account_log.actor_of(request, person))
        except Refused as error:
            refused = error.detail
        else:
            logout(request)
            return render(request, "people/deleted.html")
    context = {"memberships": queries.all_memberships_of(person.id), "refused": refused}
    return render(request, "people/delete.html", context, status=400 if refused else 200)


@never_cache
@require_http_methods(["GET", "POST"])
def notice_page(request: HttpRequest, tenant_id: str, token: str) -> HttpResponse:
    """Let the reader of an address confirm that a tenant's mails are sent there. Nobody has to sign in."""
    opened = named_addresses.opened_by(parse("tnt", tenant_id), token)
    if opened is None:
        return render(request, "people/notices.html", status=404)
    if request.method == "POST":
        request_id = getattr(request, "request_id", "")
        named_addresses.confirm(opened, address=client_address(request), request_id=request_id)
        return render(request, "people/notices.html", {"confirmed": True})
    return render(request, "people/notices.html", {"opened": opened})


def generate_recovery_codes(request: HttpRequest) -> HttpResponse:
    """Make new recovery codes. allauth locks the person, and opens its transaction on another connection."""
    with transaction.atomic(using=router.db_for_write(Person)):
        reply: HttpResponse = recovery_codes.generate_recovery_codes(request)
        return reply


urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="people_home"),
    path("confirm/", home.confirmation_page, name="people_confirm"),
    path("keys/", key_pages.key_page, name="people_keys"),
    path("keys/revoke/", key_pages.revocation_page, name="people_keys_revoke"),
    path("delete/", delete_page, name="people_delete"),
    path("notices/<str:tenant_id>/<str:token>/", notice_page, name="people_notices"),
    path("invitations/<str:token>/", invitation_page, name="people_invitation"),
    path("oidc/<str:provider_id>/login/", _checked(oidc.login, at_once=False), name="openid_connect_login"),
    path(
        "oidc/<str:provider_id>/login/callback/",
        _checked(oidc.callback, at_once=True),
        name="openid_connect_callback",
    ),
    path("2fa/recovery-codes/generate/", generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("", include("allauth.urls")),
]
