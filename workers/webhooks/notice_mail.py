"""Mails one notice to a tenant, under the lease of its job (called by the sender of webhooks)."""

from __future__ import annotations

import smtplib

from backend.jobs import services
from backend.jobs.services import JobFailed, Lease
from backend.tenancy.context import tenant_scope
from backend.webhooks import notices


def send(lease: Lease) -> None:
    """Send the mail and end the job. A mail whose job could not be ended is sent again.

    Raises LeaseLost; JobFailed, which is retryable, if the mail server did not take the mail.
    """
    if lease.attempt > lease.max_attempts:
        raise JobFailed("worker_lost", "every attempt lost its worker", retryable=True)
    with tenant_scope(lease.tenant_id):
        mail = notices.mail_about(lease.subject_id)
    if mail is not None:
        try:
            mail.send()
        except (smtplib.SMTPException, OSError) as error:
            raise JobFailed(
                "mail_refused", f"the mail server took no mail: {type(error).__name__}", retryable=True
            ) from error
    with services.checkpoint(lease):
        services.complete(lease)
