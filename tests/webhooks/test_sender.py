"""The sender: many open requests, few of one endpoint, nothing lost, nothing recorded twice."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from uuid6 import uuid7

from backend.jobs.dispatching import claim_next, renew
from backend.jobs.models import Job, JobState
from backend.jobs.services import request_cancel
from backend.webhooks import attempts, breaker, services
from backend.webhooks.models import Attempt, Delivery, DeliveryState, Endpoint
from tests.webhooks.receiver import hanging, receiving
from tests.webhooks.sending import sending, until
from workers.webhooks import webhook_sender

DATA = {"id": "whe_1", "object": "webhook_endpoint", "url": "https://example.com"}


def emit(cast: Any, url: str, count: int = 1) -> list[UUID]:
    """Make an endpoint with this number of deliveries, which nobody else gets. Returns their ids."""
    with cast.scope():
        endpoint, _ = services.create_endpoint(url=url)
        return [services.send_test(endpoint=endpoint).id for _ in range(count)]


def states(cast: Any) -> Counter[str]:
    with cast.scope():
        return Counter(Delivery.objects.values_list("state", flat=True))


@pytest.fixture
def quick_drain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(webhook_sender, "DRAIN_SECONDS", 0.05)
    return


def test_each_delivery_of_many_is_sent_once_and_in_order_numbers_without_gaps(acme: Any) -> None:
    with receiving() as receiver, sending():
        emit(acme, receiver.url, 30)
        until(lambda: states(acme) == {DeliveryState.SUCCEEDED: 30})

    assert sorted(json.loads(each.body)["endpoint_sequence"] for each in receiver.received) == list(range(1, 31))
    with acme.scope():
        assert Attempt.objects.count() == 30
        assert set(Job.objects.values_list("state", flat=True)) == {JobState.SUCCEEDED}


def test_hanging_receivers_of_one_tenant_do_not_hold_back_another(acme: Any, globex: Any, quick_drain: None) -> None:
    with hanging() as (first_url, first), hanging() as (second_url, second), receiving() as receiver, sending():
        emit(acme, first_url, 5)
        emit(acme, second_url, 5)
        until(lambda: len(first) == 2 and len(second) == 2)
        emit(globex, receiver.url, 5)
        until(lambda: states(globex) == {DeliveryState.SUCCEEDED: 5})
        assert (len(first), len(second)) == (2, 2), "two deliveries of an endpoint are in flight, and no third"


def test_a_sender_that_stands_still_while_it_claims_stops_no_other_for_long(acme: Any) -> None:
    with psycopg.connect(os.environ["DATABASE_DISPATCH_URL"]) as stopped:
        stopped.execute(webhook_sender._TRY_LOCK, [webhook_sender._CLAIM_LOCK])
        (left,) = stopped.execute("SHOW idle_in_transaction_session_timeout").fetchone() or ("",)
        assert left == "5s", "the role's own limit is longer"
        with receiving() as receiver, sending():
            emit(acme, receiver.url)
            until(lambda: states(acme) == {DeliveryState.SUCCEEDED: 1})
        with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
            stopped.execute("SELECT 1")


def test_two_senders_together_keep_to_the_limit_of_an_endpoint(acme: Any, quick_drain: None) -> None:
    with hanging() as (url, opened), sending(worker="one"), sending(worker="two"):
        emit(acme, url, 8)
        until(lambda: len(opened) >= 2)
        until(lambda: True)
        with acme.scope():
            assert Job.objects.filter(state=JobState.RUNNING).count() == 2
        assert len(opened) == 2


def test_a_sender_that_stops_hands_back_what_is_still_open(acme: Any, quick_drain: None) -> None:
    with hanging() as (url, opened):
        with sending():
            emit(acme, url)
            until(lambda: len(opened) == 1)

        with acme.scope():
            job = Job.objects.get()
            assert (job.state, job.attempt, job.lease_until) == (JobState.QUEUED, 0, None)
            assert not Attempt.objects.exists()


def test_a_receiver_that_fails_at_random_gets_everything_and_accepts_each_once(
    acme: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three of ten requests fail: an error, a redirect, or a broken answer. Waits are cut to milliseconds."""
    monkeypatch.setattr(attempts, "SCHEDULE", (timedelta(milliseconds=20),) * 40)
    monkeypatch.setattr(breaker, "FIRST_WAIT", timedelta(milliseconds=20))
    monkeypatch.setattr(breaker, "LONGEST_WAIT", timedelta(milliseconds=100))
    dice = random.Random(7)
    faults = [(503, {}, b""), (302, {"location": "http://127.0.0.1:9/"}, b""), (200, {"content-length": "x"}, b"")]
    replies = [dice.choice(faults) if dice.random() < 0.3 else (204, {}, b"") for _ in range(400)]
    with receiving(replies=replies) as receiver, sending():
        ids = emit(acme, receiver.url, 40)
        until(lambda: states(acme) == {DeliveryState.SUCCEEDED: 40})

    with acme.scope():
        accepted = Attempt.objects.filter(status_code=204).values_list("delivery_id", flat=True)
        assert sorted(accepted) == sorted(ids)
        sent = Attempt.objects.count()
    assert sent == len(receiver.received) > 40
    bodies = {(each.headers["webhook-id"], each.body) for each in receiver.received}
    assert len(bodies) == 40, "every attempt of a delivery has the same bytes"


@pytest.mark.long
def test_a_killed_sender_is_followed_by_another_and_sigterm_ends_it_in_order(acme: Any, tmp_path: Path) -> None:
    with hanging() as (url, opened), receiving() as receiver:
        (delivery_id,) = emit(acme, url)
        command = [sys.executable, "manage.py", "send_webhooks"]
        short = {"AVA_LEASE_SECONDS": "2", "AVA_HEARTBEAT_SECONDS": "1", "AVA_WORKER_STATE": str(tmp_path)}
        with subprocess.Popen(command, env={**os.environ, **short}) as killed:
            try:
                until(lambda: len(opened) == 1)
            finally:
                killed.kill()
        with acme.scope():
            services.update_endpoint(endpoint=Endpoint.objects.get(), url=receiver.url)
        with subprocess.Popen(command, env={**os.environ, **short}) as heir:
            try:
                until(lambda: states(acme) == {DeliveryState.SUCCEEDED: 1})
                assert [file.name for file in tmp_path.glob("relay-*.json")] != [], "its health check finds it"
                heir.terminate()
                assert heir.wait(60) == 0
            finally:
                heir.kill()

    assert len(receiver.received) == 1
    with acme.scope():
        assert list(Attempt.objects.values_list("delivery_id", "n", "status_code")) == [(delivery_id, 1, 204)]
        assert Job.objects.get().state == JobState.SUCCEEDED


def test_a_renewal_names_the_jobs_that_are_still_held(acme: Any, globex: Any) -> None:
    emit(acme, "https://example.com/a", 2)
    emit(globex, "https://example.com/b", 1)
    leases = [claim_next("io.webhook", worker="w") for _ in range(3)]
    mine, canceled, other = sorted(filter(None, leases), key=lambda lease: lease.tenant_id == globex.tenant_id)
    with acme.scope():
        key = Job.objects.get(id=canceled.job_id).dedupe_key
        request_cancel(dedupe_key=key)
        before = Job.objects.get(id=mine.job_id).lease_until

    assert renew([mine, canceled, other]) == {mine.job_id, other.job_id}
    with acme.scope():
        assert Job.objects.get(id=mine.job_id).lease_until > before
        Job.objects.filter(id=mine.job_id).update(lease_token=mine.token + 1)
    assert renew([mine, other]) == {other.job_id}


def test_a_delivery_whose_workers_all_died_is_dead_and_can_be_replayed(acme: Any) -> None:
    (delivery_id,) = emit(acme, "https://example.com/a")
    with acme.scope():
        Job.objects.update(attempt=services.JOB_ATTEMPTS)
    with sending():
        until(lambda: states(acme) == {DeliveryState.DEAD: 1})

    with acme.scope():
        job = Job.objects.get()
        assert (job.state, job.error_code, job.subject_id) == (JobState.DEAD, "worker_lost", delivery_id)
        assert uuid7() > delivery_id
