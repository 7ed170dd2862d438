"""Publishes the metric by which worker groups are scaled: per queue, the age of the oldest runnable job."""

from __future__ import annotations

import boto3

from backend.jobs.models import QUEUE_OF
from backend.jobs.services import oldest_runnable_age_seconds

METRIC = "OldestRunnableAge"


def publish_queue_ages(namespace: str) -> None:
    """Publish one CloudWatch datum per queue in seconds, 0 for an empty queue.

    The age comes from the jobs, so it includes jobs whose messages are unacknowledged.
    """
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
