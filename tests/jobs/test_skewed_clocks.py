"""A process whose clock is five minutes early or late: claims, leases and waits are as those of any other process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.db.models import F
from django.db.models.functions import Now

from backend.jobs import services
from backend.jobs.clock import after
from backend.jobs.dispatching import claim_next
from backend.jobs.models import Job, JobKind, JobState
from tests.conftest import Cast
from tests.faults.chaos.clocks import clock_library

PROJECT = Path(__file__).resolve().parents[2]
QUEUE = "gpu.index"
SKEWED = """
import json, sys
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4
import django
django.setup()
from backend.jobs import services
from backend.jobs.dispatching import claim_next, mark_due
from backend.jobs.models import JobKind
from backend.tenancy.context import tenant_scope

tenant = UUID(sys.argv[1])
mark_due()
claimed = []
while (lease := claim_next("gpu.index", worker="skewed")) is not None:
    claimed.append(str(lease.job_id))
    assert services.heartbeat(lease)
with tenant_scope(tenant):
    made = {
        name: str(services.enqueue(kind=JobKind.PURGE_VIDEO, subject_id=uuid4(), dedupe_key=name, wait=wait).id)
        for name, wait in {"now": timedelta(0), "later": timedelta(seconds=100)}.items()
    }
print(json.dumps({"clock": datetime.now(UTC).timestamp(), "claimed": claimed, "made": made}))
"""


def in_skewed_process(cast: Cast, minutes: int) -> dict[str, Any]:
    library = clock_library()
    if library is None:
        pytest.skip("libfaketime is not built on this platform")
    skew = {
        "LD_PRELOAD": str(library),
        "FAKETIME": f"{60 * minutes:+d}",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_NO_CACHE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", SKEWED, str(cast.tenant_id)],
        cwd=PROJECT,
        env={**os.environ, **skew},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def queued(cast: Cast, *, wait: timedelta = timedelta(0)) -> UUID:
    with cast.scope():
        key = f"observe:{uuid4()}"
        job = services.enqueue(kind=JobKind.OBSERVE_SEGMENT, subject_id=uuid4(), dedupe_key=key, wait=wait)
        return UUID(str(job.id))


def seconds_from_now(cast: Cast, job: UUID, column: str) -> float:
    with cast.scope():
        left: timedelta = Job.objects.annotate(left=F(column) - Now()).values_list("left", flat=True).get(id=job)
        return left.total_seconds()


@pytest.mark.slow
@pytest.mark.parametrize("minutes", [5, -5], ids=["early", "late"])
def test_a_skewed_clock_changes_no_claim_no_lease_and_no_wait(acme: Cast, minutes: int) -> None:
    held, lost, due = queued(acme), queued(acme), queued(acme)
    waiting = queued(acme, wait=timedelta(minutes=4))
    for job in (held, lost):
        lease = claim_next(QUEUE, worker="other")
        assert lease is not None
        assert lease.job_id == job
    with acme.scope():
        Job.objects.filter(id=lost).update(lease_until=after(timedelta(seconds=-1)))

    said = in_skewed_process(acme, minutes)

    with acme.scope():
        clock = Job.objects.annotate(now=Now()).values_list("now", flat=True)[0].timestamp()
        rows = {job.id: job for job in Job.objects.all()}
    assert abs(said["clock"] - clock - 60 * minutes) < 60, "its clock is off"
    assert {UUID(job) for job in said["claimed"]} == {lost, due}
    assert (rows[held].lease_owner, rows[held].lease_token) == ("other", 1), "a living lease is left alone"
    assert (rows[waiting].state, rows[waiting].due) == (JobState.QUEUED, False), "it waits for four minutes"
    # Its own leases, and the waits that it wrote, are as long as those of a clock that is right.
    assert 0 < seconds_from_now(acme, due, "lease_until") <= settings.LEASE_SECONDS
    made = {name: UUID(job) for name, job in said["made"].items()}
    assert -60 < seconds_from_now(acme, made["now"], "not_before") <= 0
    assert 40 < seconds_from_now(acme, made["later"], "not_before") <= 100
    assert rows[made["now"]].due
