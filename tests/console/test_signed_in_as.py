"""Staff read what a tenant's owner reads: for a reason and a time, under a banner, and on the tenant's record."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from backend.api.public_ids import encode
from backend.console.access.signed_in_as import PAGES
from backend.staff import services
from backend.staff.models import ContentAccess, Role
from tests.conftest import Cast
from tests.console.signing_in import staff_events
from tests.factories import make_video

REASON = "Ticket 4711, asked by the customer"


def sign_in(client: Client, cast: Cast, minutes: str = "15", reason: str = REASON) -> Any:
    url = f"/console/tenancy/tenant/{cast.tenant_id}/act/sign-in-as/"
    return client.post(url, {"reason": reason, "minutes": minutes})


def view(client: Client, cast: Cast, path: str = "", **query: str) -> Any:
    return client.get(f"/console/as/{cast.tenant_id}/" + (f"v1/{path}" if path else ""), query)


def acts(cast: Cast) -> list[str]:
    return [event["action"] for event in staff_events(cast)]


@pytest.fixture
def support(staff_as: Callable[[str], Client]) -> Client:
    return staff_as("support_content")


def test_it_begins_with_a_reason_and_a_time_and_every_page_is_on_record(support: Client, acme: Cast) -> None:
    with acme.scope():
        video = make_video()
    public_id = encode("vid", video.id)

    begun = sign_in(support, acme)
    assert (begun.status_code, begun.url) == (302, f"/console/as/{acme.tenant_id}/")
    assert "Nothing can be changed here" in view(support, acme).content.decode()
    listed = view(support, acme, "videos")
    assert f'/console/as/{acme.tenant_id}/v1/videos/{public_id}"' in listed.content.decode()
    assert public_id in view(support, acme, f"videos/{public_id}").content.decode()

    began, *viewed = [event for event in staff_events(acme) if event["action"].startswith("tenant.")]
    assert (began["action"], began["reason"]) == ("tenant.signed_in_as", REASON)
    assert "until" in began["details"]
    assert [event["details"]["path"] for event in viewed] == ["/v1/", "/v1/videos", f"/v1/videos/{public_id}"]
    assert {event["action"] for event in viewed} == {"tenant.viewed_as"}
    assert viewed[-1]["resource_id"] == public_id


@pytest.mark.parametrize("name", PAGES)
def test_each_page_shows_what_the_api_answers(support: Client, acme: Cast, name: str) -> None:
    sign_in(support, acme)

    assert view(support, acme, name).status_code == 200


def test_every_page_of_the_console_shows_the_banner_until_one_leaves(support: Client, acme: Cast) -> None:
    tenant_page = f"/console/tenancy/tenant/{acme.tenant_id}/change/"
    assert "You are signed in as" not in support.get(tenant_page).content.decode()
    sign_in(support, acme)
    for page in ("/console/", "/console/operations/", tenant_page, f"/console/as/{acme.tenant_id}/v1/usage"):
        assert support.get(page).content.decode().count("You are signed in as") == 1, page

    assert support.post("/console/as/leave/").url == tenant_page

    assert "You are signed in as" not in support.get("/console/").content.decode()
    assert view(support, acme, "videos").status_code == 403
    assert "tenant.signed_out_as" in acts(acme)
    assert not ContentAccess.objects.exists()


def test_it_ends_with_its_time(support: Client, acme: Cast) -> None:
    sign_in(support, acme)
    ContentAccess.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert view(support, acme, "videos").status_code == 403


def test_it_ends_when_staff_signs_out(support: Client, acme: Cast) -> None:
    sign_in(support, acme)

    assert support.post("/console/logout/").url == "/console/login/"

    assert acts(acme)[-1] == "tenant.signed_out_as"
    assert not ContentAccess.objects.exists()


def test_it_ends_when_the_role_is_taken(support: Client, acme: Cast) -> None:
    sign_in(support, acme)
    services.appoint(email="support_content@example.org", role=Role.SUPPORT)

    assert view(support, acme, "videos").status_code == 403


def test_nothing_can_be_changed(support: Client, acme: Cast) -> None:
    sign_in(support, acme)

    for path in ("api-keys", "members", "questions", "budgets", "webhook-endpoints"):
        assert support.post(f"/console/as/{acme.tenant_id}/v1/{path}", {"name": "x"}).status_code == 405


def test_one_tenant_at_a_time(support: Client, acme: Cast, globex: Cast) -> None:
    with globex.scope():
        foreign = encode("vid", make_video().id)
    sign_in(support, acme)

    assert view(support, globex, "videos").status_code == 403
    assert view(support, acme, f"videos/{foreign}").status_code == 404
    sign_in(support, globex)
    assert view(support, globex, f"videos/{foreign}").status_code == 200
    assert view(support, acme, "videos").status_code == 403


def test_content_opened_for_another_purpose_does_not_sign_anybody_in(support: Client, acme: Cast) -> None:
    support.post(f"/console/open/{acme.tenant_id}/", {"reason": REASON, "hours": "1"})

    assert view(support, acme, "videos").status_code == 403


def test_without_a_reason_or_with_another_time_nothing_begins(support: Client, acme: Cast) -> None:
    assert sign_in(support, acme, reason="short").status_code == 400
    assert sign_in(support, acme, minutes="6000").status_code == 400
    assert not ContentAccess.objects.exists()


@pytest.mark.parametrize("role", ["support", "finance"])
def test_other_roles_are_refused(staff_as: Callable[[str], Client], acme: Cast, role: str) -> None:
    assert sign_in(staff_as(role), acme).status_code == 403


@pytest.mark.parametrize("path", ["no-such-page", "videos/nonsense", "me", "openapi.json", "questions/x/stream"])
def test_what_is_no_page_of_the_tenant_is_not_found(support: Client, acme: Cast, path: str) -> None:
    sign_in(support, acme)

    assert view(support, acme, path).status_code == 404
