"""The mail about a disabled endpoint, and the settings of the mail server."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db.models.functions import Now
from django.test import Client, override_settings

from backend import env
from backend.api import public_ids
from backend.billing.models import BillingAccount
from backend.jobs.models import Job, JobKind, JobState
from backend.people.models import Membership, Role
from backend.tenancy.models import NOTICE_ROLES
from backend.webhooks import services
from backend.webhooks.models import DisabledReason, Endpoint
from backend.webhooks.notices import disable
from backend.webhooks.recipients import recipients
from tests.people.cast import member_of, person
from tests.questions.world import ask
from tests.webhooks.mailbox import mailbox
from tests.webhooks.sending import sending, until

SMTP = "django.core.mail.backends.smtp.EmailBackend"


def disabled(cast: Any) -> Endpoint:
    with cast.scope():
        endpoint, _ = services.create_endpoint(url="https://example.com/hook")
        disable(endpoint, reason=DisabledReason.DEAD_DELIVERIES)
        return Endpoint.objects.get(id=endpoint.id)


def notice(cast: Any) -> Job | None:
    with cast.scope():
        job: Job | None = Job.objects.filter(kind=JobKind.SEND_NOTICE).first()
        return job


def make_due(cast: Any) -> bool:
    with cast.scope():
        Job.objects.filter(state=JobState.QUEUED).update(not_before=Now())
        return bool(Job.objects.filter(kind=JobKind.SEND_NOTICE, state=JobState.SUCCEEDED).exists())


def test_the_tenant_is_mailed_once_though_the_mail_server_was_away(acme: Any) -> None:
    call_command("set_notice_email", acme.slug, "ops@acme.example")
    with mailbox(refusals=2) as box, override_settings(EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port, EMAIL_BACKEND=SMTP):
        endpoint = disabled(acme)
        with sending():
            until(lambda: make_due(acme))

    (mail,) = box.mails
    public_id = public_ids.encode("whe", endpoint.id)
    assert (mail["To"], mail["Subject"]) == ("ops@acme.example", f"Webhook endpoint {public_id} is disabled")
    text = str(mail.get_payload())
    assert "https://example.com/hook" in text
    assert "Five deliveries in a row have failed for good." in text
    assert f"POST /v1/webhook-endpoints/{public_id}/replay" in text
    job = notice(acme)
    assert job is not None
    assert job.attempt == 3


def test_nobody_is_mailed_about_an_endpoint_that_is_enabled_again(acme: Any) -> None:
    call_command("set_notice_email", acme.slug, "ops@acme.example")
    with mailbox() as box, override_settings(EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port, EMAIL_BACKEND=SMTP):
        endpoint = disabled(acme)
        with acme.scope():
            services.update_endpoint(endpoint=endpoint, enabled=True)
        with sending():
            until(lambda: make_due(acme))

    assert box.mails == []


def test_no_mail_is_queued_without_an_address_or_a_mail_server(acme: Any, globex: Any) -> None:
    call_command("set_notice_email", globex.slug, "ops@globex.example")
    with override_settings(EMAIL_HOST="127.0.0.1"):
        disabled(acme)
    disabled(globex)

    assert (notice(acme), notice(globex)) == (None, None)


def test_an_address_that_is_none_is_refused(acme: Any) -> None:
    with pytest.raises(CommandError, match="no e-mail address"):
        call_command("set_notice_email", acme.slug, "nobody")
    with pytest.raises(CommandError, match="no tenant"):
        call_command("set_notice_email", "nowhere", "ops@acme.example")


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("", ("", 25, "", "", False, False)),
        ("smtp://mail", ("mail", 25, "", "", False, False)),
        ("smtp+tls://u:p%40w@mail.example", ("mail.example", 587, "u", "p@w", True, False)),
        ("smtps://mail.example:4650", ("mail.example", 4650, "", "", False, True)),
    ],
)
def test_a_mail_server_is_read_from_its_url(monkeypatch: pytest.MonkeyPatch, url: str, server: Any) -> None:
    monkeypatch.setenv("AVA_EMAIL_URL", url)
    assert env.mail_server("AVA_EMAIL_URL") == server


def test_a_url_of_no_mail_server_names_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AVA_EMAIL_URL", "https://secret@mail.example")
    with pytest.raises(ImproperlyConfigured, match="AVA_EMAIL_URL") as refused:
        env.mail_server("AVA_EMAIL_URL")
    assert "secret" not in str(refused.value)


def test_a_tenant_sets_its_own_address(acme: Any, globex: Any) -> None:
    def put(email: str) -> Any:
        return acme.client.put("/v1/notice-address", {"email": email})

    everybody = ["owner", "admin", "billing"]
    assert acme.client.get("/v1/notice-address").json() == {"email": "", "confirmed": True, "roles": everybody}
    assert (put("ops@acme.example").status_code, put("nobody").status_code) == (200, 400)
    assert acme.client.get("/v1/notice-address").json() == {
        "email": "ops@acme.example",
        "confirmed": False,
        "roles": everybody,
    }
    assert globex.client.get("/v1/notice-address").json() == {"email": "", "confirmed": True, "roles": everybody}
    assert put("").json() == {"email": "", "confirmed": True, "roles": everybody}


def link_in(mail: Any) -> str:
    (path,) = re.findall(r"/accounts/notices/\S+", str(mail.get_payload()))
    return str(path)


def test_a_stranger_is_mailed_one_link_and_no_notice_until_they_want_them(acme: Any, globex: Any) -> None:
    """A tenant names the address of somebody who never asked for its mails."""
    with mailbox() as box, override_settings(EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port, EMAIL_BACKEND=SMTP):
        for email in ("other@example.org", "victim@example.org", "victim@example.org"):
            acme.client.put("/v1/notice-address", {"email": email, "roles": []}, format="json")
        disabled(acme)
        with sending():
            until(lambda: make_due(acme))
        assert box.recipients == [["victim@example.org"]], "one mail an hour, to the present address"
        path = link_in(box.mails[0])

        wrong = path.replace(public_ids.encode("tnt", acme.tenant_id), public_ids.encode("tnt", globex.tenant_id))
        for other in (wrong, f"{path[:-5]}AAAA/", "/accounts/notices/acme/x/"):
            assert Client().post(other).status_code == 404
        shown = Client().get(path)
        assert "Acme wants to mail its notices to victim@example.org" in shown.content.decode()
        assert acme.client.get("/v1/notice-address").json()["confirmed"] is False, "looking confirms nothing"
        assert Client().post(path).status_code == 200
        assert acme.client.get("/v1/notice-address").json()["confirmed"] is True
        assert Client().get(path).status_code == 404, "a link works once"

        disabled(acme)
        with sending():
            until(lambda: len(box.mails) > 1)
    assert box.recipients[1] == ["victim@example.org"]
    (event,) = acme.client.get("/v1/audit-events", {"action": "notice_address.confirmed"}).json()["data"]
    assert event["actor"]["type"] == "visitor"


def test_a_stranger_who_is_named_as_billed_is_mailed_one_link_and_no_notice_until_they_want_them(acme: Any) -> None:
    def put(email: str) -> Any:
        return acme.client.patch("/v1/billing-account", {"email": email}, format="json").json()

    acme.client.put("/v1/notice-address", {"email": "", "roles": []}, format="json")
    with mailbox() as box, override_settings(EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port, EMAIL_BACKEND=SMTP):
        for email in ("other@example.org", "victim@example.org", "victim@example.org"):
            assert put(email)["email_confirmed"] is False
        acme.client.put("/v1/budgets", {"questions": 4}, format="json")
        ask(acme)
        ask(acme)
        with sending():
            until(lambda: make_due(acme))
        assert box.recipients == [["victim@example.org"]], "one mail an hour, to the present address"
        path = link_in(box.mails[0])
        assert "notices of invoices and limits to victim@example.org" in Client().get(path).content.decode()
        with acme.scope():
            assert not recipients(billed=True), "looking confirms nothing"
        assert Client().post(path).status_code == 200
        with acme.scope():
            assert recipients(billed=True).named == ["victim@example.org"]
            assert not recipients(billed=False), "notices of other things have an address of their own"
        assert acme.client.get("/v1/billing-account").json()["email_confirmed"] is True
        assert Client().get(path).status_code == 404, "a link works once"
        assert put("third@example.org")["email_confirmed"] is False
        with acme.scope():
            assert not recipients(billed=True)
    (event,) = acme.client.get("/v1/audit-events", {"action": "billing_address.confirmed"}).json()["data"]
    assert event["actor"]["type"] == "visitor"


def test_an_address_that_is_known_already_is_billed_without_a_link(acme: Any) -> None:
    owner = member_of(acme, "owner").person.email
    acme.client.put("/v1/notice-address", {"email": "", "roles": []}, format="json")
    for email in (owner.upper(), "ops@acme.example"):
        acme.client.patch("/v1/billing-account", {"email": email}, format="json")
        with acme.scope():
            assert recipients(billed=True).named == ([owner.upper()] if email == owner.upper() else [])
    call_command("set_notice_email", acme.slug, "ops@acme.example")
    with acme.scope():
        assert recipients(billed=True).named == ["ops@acme.example"], "the address of the notices is known"


def test_a_link_ends_with_another_address(acme: Any) -> None:
    with mailbox() as box, override_settings(EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port, EMAIL_BACKEND=SMTP):
        acme.client.put("/v1/notice-address", {"email": "first@example.org"}, format="json")
        with sending():
            until(lambda: bool(box.mails))
        acme.client.put("/v1/notice-address", {"email": "second@example.org"}, format="json")
    assert Client().post(link_in(box.mails[0])).status_code == 404
    assert acme.client.get("/v1/notice-address").json()["confirmed"] is False


def test_the_own_address_of_a_member_needs_no_confirmation(acme: Any) -> None:
    owner = member_of(acme, "owner").person.email
    acme.client.put("/v1/notice-address", {"email": owner.upper(), "roles": []}, format="json")
    with acme.scope():
        assert recipients(billed=False).named == [owner.upper()]


def test_a_tenant_chooses_the_roles_that_get_its_notices(acme: Any, globex: Any) -> None:
    def put(*roles: str) -> Any:
        return acme.client.put("/v1/notice-address", {"email": "", "roles": roles}, format="json")

    assert put("billing", "owner", "billing").json() == {
        "email": "",
        "confirmed": True,
        "roles": ["owner", "billing"],
    }
    refused = put("developer")
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (400, "invalid_choice")
    assert acme.client.get("/v1/notice-address").json()["roles"] == ["owner", "billing"]
    assert globex.client.get("/v1/notice-address").json()["roles"] == ["owner", "admin", "billing"]
    assert put().json()["roles"] == []
    assert set(NOTICE_ROLES) < set(Role.values)


def test_members_with_the_chosen_roles_get_the_notices_of_their_tenant(acme: Any, globex: Any) -> None:
    mine = {role: member_of(acme, role).person.email for role in Role.values}
    member_of(acme, "owner", person("gone", is_active=False))
    member_of(globex, "owner")
    acme.client.put("/v1/notice-address", {"email": "", "roles": ["owner", "billing"]}, format="json")
    with mailbox() as box, override_settings(EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port, EMAIL_BACKEND=SMTP):
        endpoint = disabled(acme)
        with sending():
            until(lambda: make_due(acme))

    (mail,) = box.mails
    assert (mail["To"], mail["Bcc"]) == ("undisclosed-recipients:;", None)
    assert mail["Subject"] == f"Webhook endpoint {public_ids.encode('whe', endpoint.id)} is disabled"
    assert box.recipients == [[mine["owner"], mine["billing"]]]


def test_a_limit_is_mailed_to_the_address_who_is_billed_and_the_members_each_once(acme: Any) -> None:
    admin = member_of(acme, "admin").person.email
    call_command("set_notice_email", acme.slug, admin.upper())
    owner = member_of(acme, "owner").person.email
    acme.client.put("/v1/budgets", {"questions": 2}, format="json")
    with acme.scope():
        BillingAccount.objects.create(tenant_id=acme.tenant_id, email="pay@acme.example")
    with mailbox() as box, override_settings(EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port, EMAIL_BACKEND=SMTP):
        ask(acme)
        with sending():
            until(lambda: make_due(acme))

    (mail,) = box.mails
    assert mail["Subject"] == "questions: 50 % of the limit are used"
    assert mail["To"] == f"{admin.upper()}, pay@acme.example"
    assert box.recipients == [[admin.upper(), "pay@acme.example", owner]]


def test_the_address_of_a_member_who_left_gets_nothing_more(acme: Any) -> None:
    left = member_of(acme, "owner")
    with mailbox() as box, override_settings(EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port, EMAIL_BACKEND=SMTP):
        disabled(acme)
        assert notice(acme) is not None
        with acme.scope():
            Membership.objects.filter(id=left.id).delete()
        with sending():
            until(lambda: make_due(acme))

    assert box.mails == []
