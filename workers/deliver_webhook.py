"""The job of one delivery attempt: the attempt's record and the end of the job are one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from backend.jobs.services import JobFailed, Lease
from backend.webhooks.attempts import end_delivery
from workers.runner import FollowUp, Work
from workers.webhook_delivery import deliver


def handle(work: Work) -> FollowUp | None:
    ended = False

    @contextmanager
    def recorded() -> Iterator[None]:
        nonlocal ended
        with work.checkpoint():
            yield
            work.complete()
        ended = True

    deliver(tenant_id=work.lease.tenant_id, delivery_id=work.lease.subject_id, transaction=recorded)
    if not ended:
        work.finish()
    return None


def failed(lease: Lease, error: JobFailed) -> None:
    """End a delivery whose attempt could not even be made, so that it can be seen and replayed."""
    end_delivery(delivery_id=lease.subject_id)
