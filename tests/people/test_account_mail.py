"""Mails about accounts: no request waits for the mail server, and one that fails does not end the others."""

from __future__ import annotations

import logging
import queue
import threading

import pytest
from django.core.mail import EmailMessage
from django.test import Client, override_settings

from backend.people import account_mail
from tests.conftest import Cast
from tests.people.cast import person
from tests.webhooks.mailbox import mailbox
from tests.webhooks.sending import until
from tests.webhooks.test_notices import SMTP


def test_no_request_waits_for_a_mail_server_that_does_not_answer(acme: Cast) -> None:
    greets = threading.Event()
    ada = person("ada")
    with (
        mailbox(greets=greets) as box,
        override_settings(EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port, EMAIL_BACKEND=SMTP),
    ):
        for email in (ada.email, "nobody@example.org"):
            reply = Client().post("/accounts/password/reset/", {"email": email})
            assert (reply.status_code, reply.headers["Location"]) == (302, "/accounts/password/reset/done/")
        assert box.mails == []
        greets.set()
        until(lambda: bool(box.mails))
    assert box.mails[0]["To"] == ada.email
    assert "/accounts/password/reset/key/" in str(box.mails[0].get_payload())


def test_a_mail_that_is_refused_is_logged_without_its_reader_and_the_next_one_is_sent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with mailbox(refusals=1) as box, override_settings(EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port, EMAIL_BACKEND=SMTP):
        for name in ("first", "second"):
            account_mail.send_later(EmailMessage(subject=name, body="", to=[f"{name}@example.org"]))
        until(lambda: bool(box.mails))
    assert [mail["Subject"] for mail in box.mails] == ["second"]
    (refused,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "first@example.org" not in refused.getMessage()


def test_more_mails_than_may_wait_are_dropped_and_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(account_mail, "_waiting", queue.Queue(1))
    monkeypatch.setattr(account_mail, "_start", lambda: None)
    for _ in range(2):
        account_mail.send_later(EmailMessage(subject="s", body="", to=["eve@example.org"]))
    assert ["dropped" in record.getMessage() for record in caplog.records] == [True]
