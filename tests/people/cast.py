"""People of the tests: members with a browser session, and open invitations."""

from __future__ import annotations

import json
import time
from typing import Any

from allauth.account.models import EmailAddress
from django.test import Client
from django.utils.crypto import get_random_string
from uuid6 import uuid7

from backend.people.models import Invitation, Membership, Person
from backend.people.services import invitations
from backend.people.services.members import join
from backend.tenancy.context import tenant_scope
from tests.conftest import Cast

PASSWORD = "correct horse battery staple"


def person(local: str = "ada", **fields: Any) -> Person:
    """A person with a verified address of their own."""
    made = Person.objects.create_user(f"{local}-{uuid7().hex[-10:]}@example.org", PASSWORD, **fields)
    EmailAddress.objects.create(user=made, email=made.email, verified=True, primary=True)
    return made


def make_staff(who: Person) -> None:
    """Make a person staff, as the console's database role alone can."""
    Person.objects.using("staff").filter(id=who.id).update(is_staff=True)


def member_of(cast: Cast, role: str, who: Person | None = None, **fields: Any) -> Membership:
    with tenant_scope(cast.tenant_id):
        return join(who or person(role), role=role, **fields)


def invitation_of(cast: Cast, email: str = "", role: str = "viewer") -> Invitation:
    return invited(cast, email, role)[0]


def invited(cast: Cast, email: str = "", role: str = "viewer") -> tuple[Invitation, str]:
    """An open invitation, and the path of its page."""
    with tenant_scope(cast.tenant_id):
        invitation, link = invitations.invite(
            email=email or f"{uuid7().hex}@example.org",
            role=role,
            collection_ids=None,
            by_person=None,
            by_name="Ada",
            by_owner=True,
        )
    return invitation, "/accounts/" + link.partition("/accounts/")[2]


class Browser(Client):
    """A client with a session that sends the CSRF token and the tenant with each request of the API."""

    def __init__(self, who: Person, slug: str = "", *, at: float | None = None, method: str = "password") -> None:
        super().__init__(enforce_csrf_checks=True, raise_request_exception=False)
        self.slug = slug
        self.force_login(who)
        self.cookies["ava_csrf"] = get_random_string(32)
        session = self.session
        session["account_authentication_methods"] = [{"method": method, "at": time.time() if at is None else at}]
        session["_auth_user_id"] = str(who.pk)
        session["account_authentication_methods_user"] = str(who.pk)
        session.save()

    def api(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send a request of a page; headers replace those that the page sends."""
        sent = {
            "X-CSRFToken": self.cookies["ava_csrf"].value,
            **({"AVA-Tenant": self.slug} if self.slug else {}),
            **headers,
        }
        return self.generic(
            method,
            path,
            data="" if body is None else json.dumps(body),
            content_type="application/json",
            headers=sent,
        )
