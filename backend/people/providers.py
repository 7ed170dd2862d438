"""Tenants' OpenID Connect providers for django-allauth: one per tenant, from the tenant's own settings.

A provider vouches for its own tenant alone. Its sessions reach that tenant only (backend.people.sessions.covers), so
they may belong to a person who exists already.
"""

from __future__ import annotations

from typing import Any

import requests
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from django.conf import settings
from django.http import HttpRequest
from django.shortcuts import render

from backend.api.public_ids import parse
from backend.people import account_log, queries
from backend.people.checked_requests import CheckedTransport
from backend.people.models import SignInSettings, written_email
from backend.people.services import sign_in
from backend.tenancy.refusals import Refused
from backend.tenancy.secrets import open_sealed


class TenantProviders(DefaultSocialAccountAdapter):
    """Finds a tenant's provider, and lets in whom the tenant has invited or mapped."""

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> list[SocialApp]:
        row = _settings_of(provider)
        # Nobody gets the list of all tenants' providers.
        return [] if row is None or client_id not in {None, row.oidc_client_id} else [_app_of(row)]

    def get_requests_session(self) -> requests.Session:
        """Return a session for the URLs of a tenant: public addresses alone, checked and pinned, without redirects."""
        session = requests.Session()
        session.trust_env = False
        for scheme in ("https://", "http://"):
            session.mount(scheme, CheckedTransport(allow_private=settings.OIDC_ALLOW_PRIVATE))
        return session

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        row = _settings_of(sociallogin.account.provider)
        if row is None:
            raise ImmediateHttpResponse(_refusal(request, "This way to sign in has ended."))
        claims = _claims(sociallogin)
        # A new link belongs to the address of the claims; an existing one keeps its person.
        try:
            person = sign_in.admit(row, claims, origin=account_log.actor_of(request, None, name=_address(claims)))
        except Refused as refused:
            account_log.refused_by_provider(request, row.tenant_id, address=_address(claims), reason=refused.code)
            raise ImmediateHttpResponse(_refusal(request, refused.detail)) from None
        if sociallogin.is_existing and sociallogin.user != person:
            raise ImmediateHttpResponse(_refusal(request, "This identity belongs to another address here."))
        if not sociallogin.is_existing:
            sociallogin.user = person
            sociallogin.save(request, connect=True)
        # The process "connect" would hand the identity to whoever is signed in.
        sociallogin.state["process"] = "login"

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False


def _settings_of(provider: Any) -> SignInSettings | None:
    tenant_id = parse("tnt", provider) if isinstance(provider, str) else None
    row = None if tenant_id is None else queries.settings_of(tenant_id)
    return row if row is not None and row.oidc_issuer else None


def _app_of(row: SignInSettings) -> SocialApp:
    return SocialApp(
        provider="openid_connect",
        provider_id=sign_in.provider_of(row.tenant_id),
        name=row.tenant.name,
        client_id=row.oidc_client_id,
        secret=open_sealed(bytes(row.oidc_client_secret)).decode() if row.oidc_client_secret else "",
        settings={"server_url": row.oidc_issuer, "oauth_pkce_enabled": True},
    )


def _claims(login: SocialLogin) -> dict[str, Any]:
    """Return the claims of the identity token and of the provider's user info, of which the latter is newer."""
    data = login.account.extra_data
    return {**(data.get("id_token") or {}), **(data.get("userinfo") or {})}


def _address(claims: dict[str, Any]) -> str:
    return written_email(str(claims.get("email") or ""))


def _refusal(request: HttpRequest, reason: str) -> Any:
    return render(request, "people/refused.html", {"reason": reason}, status=403)
