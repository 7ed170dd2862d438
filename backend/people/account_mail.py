"""Mails to one person about an account, sent by a thread of their own.

A slow mail server holds no thread of a request, and the time of a reply does not show whether there is an account.
"""

from __future__ import annotations

import atexit
import logging
import queue
import smtplib
import threading
import time

from django.core.mail import EmailMessage

logger = logging.getLogger(__name__)

WAITING = 100
"""Maximum number of mails that wait in a process. One more is dropped and logged; its reader asks again."""
_LAST_S = 5.0
"""Time that a process which ends has for the mails that wait."""

_waiting: queue.Queue[EmailMessage] = queue.Queue(WAITING)
_starting = threading.Lock()
_sender: threading.Thread | None = None


def send_later(mail: EmailMessage) -> None:
    """Send a mail once those before it are sent. A mail that the server does not take is logged and dropped."""
    try:
        _waiting.put_nowait(mail)
    except queue.Full:
        logger.error("a mail about an account is dropped: %d wait already", WAITING)
        return
    _start()


def _start() -> None:
    global _sender
    with _starting:
        if _sender is None or not _sender.is_alive():
            _sender = threading.Thread(target=_send_all, name="account-mail", daemon=True)
            _sender.start()
            atexit.register(_finish)


def _send_all() -> None:
    while True:
        mail = _waiting.get()
        try:
            mail.send()
        except (smtplib.SMTPException, OSError) as error:
            logger.error("the mail server took no mail about an account: %s", type(error).__name__)
        except Exception:
            # The next mail is sent all the same.
            logger.exception("a mail about an account could not be sent")
        finally:
            _waiting.task_done()


def _finish() -> None:
    deadline = time.monotonic() + _LAST_S
    while _waiting.unfinished_tasks and time.monotonic() < deadline:
        time.sleep(0.05)
