"""The state of the queue as Prometheus reads it from a relay: asked of the database at each scrape, so never stale.

Every relay shows the same numbers, so a query over several takes the highest.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import datetime

from django.db import DatabaseError, connections
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from backend.billing.services.findings import last_findings, oldest_finding_seconds
from backend.billing.services.nightly import last_results, oldest_result_seconds
from backend.jobs.breakers import breakers
from backend.jobs.dispatching import CLASSES, oldest_runnable_age_seconds, running_jobs, waiting_jobs
from backend.jobs.models import BreakerState
from backend.observability.database_state import DatabaseState, database_state

logger = logging.getLogger("ava.relay")


class QueueGauges(Collector):
    """Depth and age of each class of jobs. A database that is away shows as ava_database_up 0."""

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("ava_database_up", "Whether the relay reached the database at this scrape.")
        try:
            depths = {"due": waiting_jobs(), "running": running_jobs()}
            ages = oldest_runnable_age_seconds()
            dependencies = breakers()
            state = database_state()
            invariants, findings, findings_age = last_results(), last_findings(), oldest_finding_seconds()
        except DatabaseError as error:
            logger.warning("the queue could not be read for its metrics: %s", type(error).__name__)
            up.add_metric([], 0.0)
            yield up
            return
        finally:
            # A scrape runs on a thread of its own, which ends with it.
            connections.close_all()
        up.add_metric([], 1.0)
        yield up
        yield from _database(state)
        yield _depths(depths)
        oldest = GaugeMetricFamily(
            "ava_queue_oldest_seconds",
            "Age of a class's oldest job that is due, 0 if none waits.",
            labels=["queue"],
        )
        for queue in CLASSES:
            oldest.add_metric([queue], max(0.0, ages.get(queue, 0.0)))
        yield oldest
        away = GaugeMetricFamily(
            "ava_dependency_away", "Whether jobs wait because a dependency is away.", labels=["dependency"]
        )
        for breaker in dependencies:
            away.add_metric([breaker.dependency], float(breaker.state != BreakerState.CLOSED))
        yield away
        yield from _invariants(invariants)
        money = GaugeMetricFamily(
            "ava_money_findings", "Findings of the daily comparisons of money, by kind.", labels=["finding"]
        )
        for name, count in sorted(findings.items()):
            money.add_metric([name], float(count))
        yield money
        age = GaugeMetricFamily("ava_money_findings_checked_seconds", "Age of the oldest result of such a comparison.")
        if findings_age is not None:
            age.add_metric([], findings_age)
        yield age


def _database(state: DatabaseState) -> Iterator[Metric]:
    for name, help_text, value in (
        ("ava_database_connections_used", "Used part of the connections that PostgreSQL allows.", state.connections),
        (
            "ava_database_archive_failing_seconds",
            "Age of the last success while the archive of the log fails, else 0.",
            state.archive_failing_s,
        ),
        (
            "ava_database_standby_bytes",
            "Bytes of log that PostgreSQL keeps for a standby that has not read them.",
            state.standby_bytes,
        ),
    ):
        family = GaugeMetricFamily(name, help_text)
        family.add_metric([], value)
        yield family


def _invariants(results: Mapping[str, tuple[int, datetime]]) -> Iterator[Metric]:
    broken = GaugeMetricFamily(
        "ava_invariant_violations", "Violations of an invariant of the money at its last check.", labels=["invariant"]
    )
    age = GaugeMetricFamily("ava_invariants_checked_seconds", "Age of the oldest result of an invariant.")
    for name, (violations, _) in sorted(results.items()):
        broken.add_metric([name], float(violations))
    yield broken
    oldest = oldest_result_seconds(results)
    if oldest is not None:
        age.add_metric([], oldest)
    yield age


def _depths(depths: Mapping[str, Mapping[str, int]]) -> Metric:
    family = GaugeMetricFamily(
        "ava_queue_jobs",
        "Jobs of a class. state: due (may run now) or running (an expired lease included).",
        labels=["queue", "state"],
    )
    for state, by_queue in depths.items():
        for queue in CLASSES:
            family.add_metric([queue, state], float(by_queue.get(queue, 0)))
    return family
