"""The rules of accounts for django-allauth: who may sign up, what an invitation proves, and how mails are sent."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.sites.shortcuts import get_current_site
from django.http import HttpRequest, HttpResponse

from backend.people import account_log, account_mail, queries
from backend.people.models import Invitation, Person, written_email
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
        """Whether the session's invitation proves an address, because its link was mailed there or nothing is."""
        invitation = invitation_of(request)
        return invitation is not None and invitation.email == written_email(email)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        with account_log.lock_outs(request, account_log.person_of(credentials), factor="password"):
            super().pre_authenticate(request, **credentials)

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        account_log.failed(request, account_log.person_of(credentials), factor="password")

    def post_login(self, request: HttpRequest, user: Person, **details: Any) -> HttpResponse:
        account_log.signed_in(request, user)
        reply: HttpResponse = super().post_login(request, user, **details)
        return reply

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        site = get_current_site(self.request)
        about = {"request": self.request, "email": email, "current_site": site, **context}
        account_mail.send_later(self.render_mail(template_prefix, email, about))
