"""Runs one attempt of a delivery in the test's own thread, with the steps that the sender runs on its event loop."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models.functions import Now
from django.utils import timezone

from backend.jobs import services
from backend.jobs.models import Job, JobKind, JobState
from backend.webhooks.models import Delivery, DeliveryState
from workers.webhooks.webhook_delivery import load, record, send


def make_attempt(cast: Any, delivery_id: UUID, *, at: datetime | None = None) -> timedelta | None:
    """Run the next attempt of a delivery now, whenever it is due. Returns the wait until the one after it; None if
    there is none. at: the time of the signature.
    """
    with cast.scope():
        queued = Job.objects.filter(kind=JobKind.DELIVER_WEBHOOK, subject_id=delivery_id, state=JobState.QUEUED)
        queued.update(not_before=Now(), due=True)
        job = queued.first()
        if job is None:
            return None
        lease = services.claim(job.id, worker="test")
    assert lease is not None
    outgoing = load(lease)
    if outgoing is not None:
        record(lease, outgoing, asyncio.run(send(outgoing, at=at or timezone.now())))
    with cast.scope():
        following = Job.objects.filter(subject_id=delivery_id, state=JobState.QUEUED).first()
        delivery = Delivery.objects.filter(id=delivery_id, state=DeliveryState.PENDING).first()
        assert (following is None) == (delivery is None), "a pending delivery has a job that goes on with it"
        wait: timedelta | None = None if following is None else following.not_before - timezone.now()
        return wait
