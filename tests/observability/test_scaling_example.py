"""The example of docs/scale.md that scales workers by queue age: its query means on a real queue what the page says."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import yaml
from django.db.models.functions import Now

from backend.jobs import services
from backend.jobs.dispatching import CLASSES, claim_next
from backend.jobs.models import Job, JobKind
from infra.local.app_processes import WORKERS
from tests.conftest import Cast
from workers.metrics.queue_gauges import QueueGauges

SCALE = Path(__file__).parents[2] / "docs" / "scale.md"
WAITED = timedelta(minutes=10)


def example() -> dict[str, Any]:
    (block,) = [block for block in re.findall(r"```yaml\n(.*?)```", SCALE.read_text(), re.S) if "ScaledObject" in block]
    manifest: dict[str, Any] = yaml.safe_load(block)
    return manifest


def queried() -> tuple[str, str]:
    """Return the metric and the class of jobs that the example asks for."""
    (trigger,) = example()["spec"]["triggers"]
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


def test_the_manifest_scales_a_worker_of_the_class_that_it_asks_for() -> None:
    manifest = example()
    assert (manifest["apiVersion"], manifest["kind"]) == ("keda.sh/v1alpha1", "ScaledObject")
    _, queue = queried()
    assert queue in CLASSES
    (worker,) = [worker for worker in WORKERS if queue in worker.queues]
    assert manifest["spec"]["scaleTargetRef"] == {"name": worker.name}
    (trigger,) = manifest["spec"]["triggers"]
    assert (trigger["type"], trigger["metricType"]) == ("prometheus", "Value")
    assert float(trigger["metadata"]["threshold"]) == 300


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
