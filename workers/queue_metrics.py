"""Publishes the metrics by which worker groups are scaled: per queue, the age of the oldest runnable job, and the
number of running jobs."""

from __future__ import annotations

from typing import Any

import boto3

from backend.jobs.dispatching import oldest_runnable_age_seconds, running_jobs
from backend.jobs.models import QUEUE_OF

OLDEST_AGE = "OldestRunnableAge"
RUNNING = "RunningJobs"


def publish_queue_ages(namespace: str) -> None:
    """Publish both CloudWatch metrics of every queue, 0 for an empty queue."""
    boto3.client("cloudwatch").put_metric_data(Namespace=namespace, MetricData=queue_data())


def queue_data() -> list[dict[str, Any]]:
    """Return the data of both metrics of every queue.

    The age comes from the jobs, so it includes jobs whose messages are unacknowledged.
    """
    ages, running = oldest_runnable_age_seconds(), running_jobs()
    return [
        {"MetricName": name, "Dimensions": [{"Name": "Queue", "Value": queue}], "Unit": unit, "Value": value}
        for queue in sorted(set(QUEUE_OF.values()))
        for name, unit, value in (
            (OLDEST_AGE, "Seconds", max(0.0, ages.get(queue, 0.0))),
            (RUNNING, "Count", float(running.get(queue, 0))),
        )
    ]
