"""Publishes what worker groups are scaled on: per queue, the age of the oldest job that could run."""

from __future__ import annotations

import boto3

from backend.jobs.models import QUEUE_OF
from backend.jobs.services import oldest_runnable_age_seconds

METRIC = "OldestRunnableAge"


def publish_queue_ages(namespace: str) -> None:
    """One CloudWatch datum per queue, in seconds, 0 for an empty one; unacknowledged messages do not hide from it."""
    ages = oldest_runnable_age_seconds()
    boto3.client("cloudwatch").put_metric_data(
        Namespace=namespace,
        MetricData=[
            {
                "MetricName": METRIC,
                "Dimensions": [{"Name": "Queue", "Value": queue}],
                "Unit": "Seconds",
                "Value": max(0.0, ages.get(queue, 0.0)),
            }
            for queue in sorted(set(QUEUE_OF.values()))
        ],
    )
