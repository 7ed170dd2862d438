"""People of the staff and their browsers, for tests of the console."""

from __future__ import annotations

import time
from typing import Any

from django.test import Client, override_settings

from backend.people.models import Person
from backend.staff import factors, services, sign_in
from backend.staff.models import Role
from tests.conftest import Cast

PASSWORD = "correct horse battery"


def appointed(role: str) -> Client:
    """The browser of a new person with this role, signed in."""
    # Without a password, whose digest takes half a second.
    services.appoint(email=f"{role}@example.org", role=Role(role))
    return signed_in(f"{role}@example.org")


def after_the_password(person: Person) -> Client:
    """Return a client whose next page asks for the second factor."""
    client = Client()
    client.force_login(person, "backend.staff.sign_in.StaffBackend")
    return client


def signed_in(email: str) -> Client:
    """A browser whose session has passed the password and the second factor."""
    client = after_the_password(Person.objects.get(email=email))
    session = client.session
    session[sign_in.VERIFIED] = time.time()
    session.save()
    return client


def open_content(client: Client, cast: Cast, reason: str = "Ticket 4711, asked by the customer") -> Any:
    return client.post(f"/console/open/{cast.tenant_id}/", {"reason": reason, "hours": "1"})


def the_api() -> override_settings:
    """Within this block the process is the API's again."""
    return override_settings(PROCESS="api", ROOT_URLCONF="backend.urls")


def staff_events(cast: Cast) -> list[dict[str, Any]]:
    """What the tenant's own audit log shows of our staff, oldest first."""
    with the_api():
        reply = cast.client.get("/v1/audit-events", {"actor_type": "staff", "limit": "100"})
    assert reply.status_code == 200, reply.content
    data: list[dict[str, Any]] = reply.json()["data"]
    return data[::-1]


def code(secret: str, *, later: int = 0) -> str:
    """The code that an authenticator app shows now, or some steps of 30 s later."""
    return factors.code_at(secret, int(time.time() // factors.STEP_SECONDS) + later)
