"""Publishes the metrics by which worker groups are scaled: per queue, the age of the oldest runnable job, and the
number of running jobs. Others call an operator: dependencies that are away, jobs that are dead, and checks of money
that found something or did not run."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import boto3
import redis
from django.conf import settings

from backend.billing.services.findings import last_findings, oldest_finding_seconds
from backend.billing.services.nightly import last_results, oldest_result_seconds
from backend.jobs.breakers import outages
from backend.jobs.dispatching import dead_jobs, oldest_runnable_age_seconds, running_jobs
from backend.jobs.models import QUEUE_OF
from workers.metrics.server_metrics import WITH_TIMEOUTS

logger = logging.getLogger("ava.metrics")

OLDEST_AGE = "OldestRunnableAge"
RUNNING = "RunningJobs"
ALARMING = ("DependenciesAway", "DeadJobs", "InvariantViolations", "MoneyFindings")
"""Metrics over the whole installation, without a dimension."""
INVARIANTS_AGE = "InvariantsAgeSeconds"
"""Age of the oldest result of an invariant or of a comparison of money. There is none before the first check."""
DEAD_WITHIN = timedelta(minutes=15)
RELAY_SIGN = "ava:relay"
"""Key in the broker that a relay renews while its passes succeed."""
SIGN_SECONDS = 60
BROKER_SECONDS = 5.0


def connect_broker() -> redis.Redis:
    """Return a client of the broker whose calls end within BROKER_SECONDS."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=BROKER_SECONDS, socket_connect_timeout=BROKER_SECONDS
    )


def leave_sign(broker: redis.Redis) -> None:
    """Record that a relay works. The record expires after SIGN_SECONDS."""
    broker.set(RELAY_SIGN, "1", ex=SIGN_SECONDS)


def publish_queue_ages(namespace: str, broker: redis.Redis) -> None:
    """Publish the CloudWatch metrics of the jobs, 0 for an empty queue; nothing while no relay works.

    Without a relay the jobs wait whatever the number of machines. The alarm for missing metrics then calls an operator.
    """
    if not broker.exists(RELAY_SIGN):
        logger.error("no relay works: the metrics of the queues are held back")
        return
    boto3.client("cloudwatch", config=WITH_TIMEOUTS).put_metric_data(Namespace=namespace, MetricData=queue_data())


def queue_data() -> list[dict[str, Any]]:
    """Return the data of both metrics of every queue, and of those that are for operators.

    The age comes from the jobs, so it includes jobs whose messages are unacknowledged.
    """
    ages, running = oldest_runnable_age_seconds(), running_jobs()
    of_queues = [
        {"MetricName": name, "Dimensions": [{"Name": "Queue", "Value": queue}], "Unit": unit, "Value": value}
        for queue in sorted(set(QUEUE_OF.values()))
        for name, unit, value in (
            (OLDEST_AGE, "Seconds", max(0.0, ages.get(queue, 0.0))),
            (RUNNING, "Count", float(running.get(queue, 0))),
        )
    ]
    invariants, findings = last_results(), last_findings()
    violations = sum(count for count, _ in invariants.values())
    counts = (len(outages()), dead_jobs(within=DEAD_WITHIN), violations, sum(findings.values()))
    of_all = [
        {"MetricName": name, "Dimensions": [], "Unit": "Count", "Value": float(value)}
        for name, value in zip(ALARMING, counts, strict=True)
    ]
    checked = [age for age in (oldest_result_seconds(invariants), oldest_finding_seconds()) if age is not None]
    if checked:
        of_all.append({"MetricName": INVARIANTS_AGE, "Dimensions": [], "Unit": "Seconds", "Value": max(checked)})
    return [*of_queues, *of_all]
