"""Mails of invitations: who sends them, what they hold, and how many a tenant may cause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client, override_settings
from django.utils import timezone

from backend.jobs.models import Job, JobKind, JobState
from backend.people.models import Invitation
from tests.conftest import Cast
from tests.webhooks.mailbox import Mailbox, mailbox
from tests.webhooks.sending import sending, until
from tests.webhooks.test_notices import SMTP


@pytest.fixture
def box() -> Iterator[Mailbox]:
    with mailbox() as box, override_settings(EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port, EMAIL_BACKEND=SMTP):
        yield box


def invite(cast: Cast, email: str) -> Any:
    return cast.client.post("/v1/invitations", {"email": email, "role": "viewer"})


def refusal(reply: Any) -> tuple[int, str]:
    return reply.status_code, reply.json()["code"]


def send_all(cast: Cast) -> None:
    def over() -> bool:
        with cast.scope():
            Job.objects.filter(state=JobState.QUEUED).update(not_before=Now())
            return not Job.objects.filter(kind=JobKind.SEND_NOTICE).exclude(state=JobState.SUCCEEDED).exists()

    with sending():
        until(over)


def test_an_invitation_is_mailed_by_the_sender_and_its_link_opens_the_page(acme: Cast, box: Mailbox) -> None:
    made = invite(acme, "eve@example.org")
    assert (made.status_code, made.json()["url"], made.json()["mailed"]) == (201, None, True)
    assert box.mails == [], "a request waits for no mail server"
    send_all(acme)

    (mail,) = box.mails
    assert (mail["To"], mail["Subject"]) == ("eve@example.org", "Invitation to Acme")
    (path,) = re.findall(r"/accounts/invitations/[\w-]{43}/", str(mail.get_payload()))
    page = Client().get(path)
    assert (page.status_code, "eve@example.org" in page.content.decode()) == (200, True)


def test_an_invitation_that_ended_before_its_mail_is_not_mailed(acme: Cast, box: Mailbox) -> None:
    first = invite(acme, "eve@example.org").json()["id"]
    assert acme.client.delete(f"/v1/invitations/{first}").status_code == 204
    invite(acme, "bob@example.org")
    send_all(acme)
    assert [mail["To"] for mail in box.mails] == ["bob@example.org"]


def test_open_invitations_have_a_maximum(acme: Cast, globex: Cast) -> None:
    with override_settings(OPEN_INVITATIONS_PER_TENANT=2):
        first = invite(acme, "a@example.org").json()["id"]
        assert invite(acme, "b@example.org").status_code == 201
        assert refusal(invite(acme, "c@example.org")) == (429, "too_many_invitations")
        # An offer that takes the place of another one is not one more.
        assert invite(acme, "b@example.org").status_code == 201
        assert invite(globex, "c@example.org").status_code == 201
        acme.client.delete(f"/v1/invitations/{first}")
        assert invite(acme, "c@example.org").status_code == 201
        with acme.scope():
            assert Invitation.objects.filter(email="c@example.org").count() == 1
            Invitation.objects.filter(email="b@example.org").update(expires_at=timezone.now() - timedelta(seconds=1))
        assert invite(acme, "d@example.org").status_code == 201


def test_mails_of_a_day_have_a_maximum(acme: Cast, globex: Cast, box: Mailbox) -> None:
    with override_settings(INVITATION_MAILS_PER_DAY=2):
        for name in "ab":
            made = invite(acme, f"{name}@example.org").json()["id"]
            acme.client.delete(f"/v1/invitations/{made}")
        assert refusal(invite(acme, "c@example.org")) == (429, "too_many_invitations")
        assert invite(globex, "c@example.org").status_code == 201
        with acme.scope():
            assert Job.objects.filter(kind=JobKind.SEND_NOTICE).count() == 2
            Invitation.objects.update(created_at=timezone.now() - timedelta(days=1, seconds=1))
        assert invite(acme, "c@example.org").status_code == 201


def test_an_address_gets_five_mails_of_a_tenant_in_a_day(acme: Cast, globex: Cast, box: Mailbox) -> None:
    replies = [invite(acme, "Eve@example.org") for _ in range(6)]
    assert [reply.status_code for reply in replies] == [201] * 5 + [429]
    assert "5 times" in replies[-1].json()["detail"]
    assert invite(acme, "bob@example.org").status_code == 201
    # What other tenants do does not show.
    assert invite(globex, "eve@example.org").status_code == 201
    with acme.scope():
        assert Invitation.objects.filter(email="eve@example.org", revoked_at=None).count() == 1
