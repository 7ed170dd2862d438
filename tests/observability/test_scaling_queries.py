"""The query by which the Helm chart scales workers means on a real queue what docs/scale.md says."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

from django.db.models.functions import Now

from backend.jobs import services
from backend.jobs.dispatching import claim_next
from backend.jobs.models import Job, JobKind
from infra.rehearsal import chart
from tests.conftest import Cast
from workers.metrics.queue_gauges import QueueGauges

KIND = "ScaledObject"
WAITED = timedelta(minutes=10)


def queried() -> tuple[str, str]:
    """Return the metric and the class of jobs by which the chart scales index workers without a server of their own."""
    every = chart.render({"preset": "hosted", "keda": {"enabled": True}})
    (scaled,) = [each for each in every if each["metadata"]["name"] == "ava-worker-index" and each["kind"] == KIND]
    (trigger,) = scaled["spec"]["triggers"]
    found = re.fullmatch(r'max\((\w+)\{queue="([\w.]+)"\}\)', trigger["metadata"]["query"])
    assert found is not None
    return found[1], found[2]


def value() -> float:
    """Return what the example's query gives on the metrics of one relay."""
    metric, queue = queried()
    samples = [sample for family in QueueGauges().collect() for sample in family.samples if sample.name == metric]
    return max(sample.value for sample in samples if sample.labels["queue"] == queue)


def waiting(*ages: timedelta) -> None:
    for age in ages:
        job = services.enqueue(kind=JobKind.OBSERVE_SEGMENT, subject_id=uuid4(), dedupe_key=f"observe:{uuid4()}")
        Job.objects.filter(id=job.id).update(not_before=Now() - age)


def test_the_query_is_the_age_of_the_oldest_job_that_waits(acme: Cast, globex: Cast) -> None:
    assert value() == 0
    with acme.scope():
        waiting(timedelta(minutes=1))
    with globex.scope():
        waiting(WAITED, timedelta(hours=-1))

    assert WAITED.total_seconds() <= value() < 2 * WAITED.total_seconds()
    assert claim_next(queried()[1], worker="w") is not None
    assert claim_next(queried()[1], worker="w") is not None
    assert value() == 0, "what runs does not wait"
