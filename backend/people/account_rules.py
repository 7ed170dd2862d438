"""The rules of accounts for django-allauth: who may sign up, what an invitation proves, and how mails are sent."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sites.shortcuts import get_current_site
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from backend.people import account_log, account_mail, queries, sessions
from backend.people.models import Invitation, Person, written_email
from backend.people.services import proofs
from backend.tenancy.link_tokens import digest_of
from backend.tenancy.networks import client_address

INVITED = "invitation"
"""The token of the invitation that a session has opened."""


def invitation_of(request: HttpRequest) -> Invitation | None:
    """Return the open invitation whose link this session has opened."""
    token = request.session.get(INVITED, "")
    return queries.open_invitation(digest_of(token)) if token else None


class AccountRules(DefaultAccountAdapter):
    """Accounts are made from invitations alone, for the invited address alone."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return invitation_of(request) is not None

    def clean_email(self, email: str) -> str:
        return written_email(super().clean_email(email))

    def is_email_verified(self, request: HttpRequest, email: str) -> bool:
        """Whether the account may be used without a mail that confirms the address.

        A link that was mailed to the address has proven it. Where nothing is mailed, the account is used unproven:
        its tenant alone vouches for the address (Person.vouched_by).
        """
        invitation = invitation_of(request)
        if invitation is None or invitation.email != written_email(email):
            return False
        return invitation.mailed or not settings.EMAIL_HOST

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        with account_log.lock_outs(request, account_log.person_of(credentials), factor="password"):
            super().pre_authenticate(request, **credentials)

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        account_log.failed(request, account_log.person_of(credentials), factor="password")

    def post_login(self, request: HttpRequest, user: Person, **details: Any) -> HttpResponse:
        if any(one["method"] == "code" for one in sessions.records(request)):
            proofs.proven_by_code(request, user)
        account_log.signed_in(request, user)
        reply: HttpResponse = super().post_login(request, user, **details)
        return reply

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Lead to what waits for the person's decision, else to the app."""
        person: Any = request.user
        undecided = not sessions.provider(request) and (
            queries.open_invitations_for(person.email)
            or not all(sessions.is_accepted(person, row) for row in queries.memberships_of(person.id))
        )
        return reverse("people_home" if undecided else "app")

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Count failed passwords of an account apart for each network address with a session of the account.

        So nobody locks a person out who knows no more than the account's e-mail address.
        """
        key: str = super()._get_login_attempts_cache_key(request, **credentials)
        person, address = account_log.person_of(credentials), client_address(request)
        known = bool(person and address) and UserSession.objects.filter(user=person, ip=address).exists()
        return f"{key}:{address}" if known else key

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        site = get_current_site(self.request)
        about = {"request": self.request, "email": email, "current_site": site, **context}
        account_mail.send_later(self.render_mail(template_prefix, email, about))
