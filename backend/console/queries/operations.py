"""Reads of the page of operations: failing jobs by error, endpoints that fail, workers at work, what staff did."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from backend.audit.models import ActorKind, AuditEvent
from backend.console.queries.role import CONSOLE, across_tenants, rows
from backend.jobs.dispatching import SELF_CLAIMED
from backend.jobs.models import Breaker, Job, JobState
from backend.staff.models import StaffEvent
from backend.webhooks.models import Endpoint

ENDED = (JobState.DEAD, JobState.FAILED)
OPEN = (JobState.QUEUED, JobState.RUNNING)
MOST_AT_ONCE = 200
"""Maximum number of jobs that one act changes."""


def failing_jobs(since: datetime) -> list[dict[str, Any]]:
    """Count the jobs that ended badly since then, and the open ones that have failed before, by class and error."""
    return rows(
        """
        SELECT queue, error_code, count(*) FILTER (WHERE state IN ('dead', 'failed')) AS ended,
            count(*) FILTER (WHERE state IN ('queued', 'running')) AS waiting, count(DISTINCT tenant_id) AS tenants,
            max(completed_at) AS latest FROM (
            SELECT queue, error_code, state, tenant_id, completed_at FROM jobs_job
            WHERE completed_at >= %(since)s AND state IN ('dead', 'failed')
            AND state IN ('succeeded', 'failed', 'canceled', 'dead')
            UNION ALL SELECT queue, error_code, state, tenant_id, NULL FROM jobs_job
            WHERE state IN ('queued', 'running') AND error_code <> ''
        ) j GROUP BY 1, 2 ORDER BY ended DESC, waiting DESC, queue, error_code LIMIT 50
        """,
        {"since": since},
    )


def jobs_with(*, queue: str, error_code: str, ended: bool, since: datetime) -> QuerySet[Any]:
    """Return the first MOST_AT_ONCE jobs of a class with this error, that ended since then or that are open."""
    found = across_tenants(Job).filter(queue=queue, error_code=error_code)
    found = found.filter(state__in=ENDED, completed_at__gte=since) if ended else found.filter(state__in=OPEN)
    return found.order_by("id")[:MOST_AT_ONCE]


def breakers() -> QuerySet[Any]:
    """Return every breaker that has been open, by name."""
    return Breaker.objects.using(CONSOLE).order_by("dependency")


def failing_endpoints() -> QuerySet[Any]:
    """Return the 50 endpoints that failed last: disabled by us, or with a breaker that is not closed."""
    every = across_tenants(Endpoint).select_related("tenant").defer("secret", "previous_secret")
    return (every.filter(state="auto_disabled") | every.exclude(breaker="closed")).order_by("-id")[:50]


def last_attempts(endpoints: Sequence[Endpoint]) -> dict[UUID, dict[str, Any]]:
    """Return the status code, the error and the time of the last attempt of endpoints, by endpoint.

    Only the five latest deliveries of an endpoint are looked at, because retries may lie behind newer deliveries.
    """
    found = rows(
        """
        SELECT e.id, last.* FROM unnest(%(ids)s::uuid[], %(tenants)s::uuid[]) AS e(id, tenant_id), LATERAL (
            SELECT a.status_code, a.error_code, a.attempted_at FROM (
                SELECT id FROM webhooks_delivery d WHERE d.tenant_id = e.tenant_id AND d.endpoint_id = e.id
                AND d.attempts > 0 ORDER BY d.endpoint_sequence DESC NULLS LAST LIMIT 5) d
            JOIN webhooks_attempt a ON a.tenant_id = e.tenant_id AND a.delivery_id = d.id
            ORDER BY a.attempted_at DESC LIMIT 1) last
        """,
        {"ids": [row.id for row in endpoints], "tenants": [row.tenant_id for row in endpoints]},
    )
    return {row.pop("id"): row for row in found}


def ages(since: datetime) -> list[dict[str, Any]]:
    """Return how long the oldest runnable job had waited at the most, in seconds, by class and quarter of an hour."""
    return rows(
        "SELECT queue, date_bin('15 minutes', at, 'epoch') AS at, max(oldest_s) AS oldest_s FROM jobs_queueage "
        "WHERE at >= %(since)s GROUP BY 1, 2 ORDER BY 1, 2",
        {"since": since},
    )


def late_wake_up_s() -> float | None:
    """Return for how long a job has waited for a relay to wake it, in seconds; None if none does."""
    found = rows(
        "SELECT extract(epoch FROM now() - min(not_before))::float AS late_s FROM jobs_job "
        "WHERE state = 'queued' AND NOT due AND not_before <= now()"
    )
    late: float | None = found[0]["late_s"]
    return late


def unrung_s(quiet_s: float | None) -> float | None:
    """Return for how long the oldest job has been due that no relay can have rung for, in seconds; None without one.

    quiet_s: time since the last report of a relay; None if there is none.
    """
    found = rows(
        "SELECT extract(epoch FROM now() - min(not_before))::float AS unrung_s FROM jobs_job WHERE state = 'queued' "
        "AND due AND paused_at IS NULL AND queue <> ALL(%(self_claimed)s) "
        "AND (%(quiet)s::float IS NULL OR not_before > now() - %(quiet)s * interval '1 second')",
        {"quiet": quiet_s, "self_claimed": list(SELF_CLAIMED)},
    )
    unrung: float | None = found[0]["unrung_s"]
    return unrung


def busy_workers() -> list[dict[str, Any]]:
    """Return the workers that hold jobs, with the number of jobs and the oldest heartbeat among them."""
    return rows(
        "SELECT lease_owner, queue, count(*) AS jobs, min(heartbeat_at) AS heartbeat_at, "
        "count(*) FILTER (WHERE lease_until < now()) AS lost FROM jobs_job WHERE state = 'running' "
        "GROUP BY 1, 2 ORDER BY heartbeat_at LIMIT 100"
    )


def acts_of_staff(since: datetime) -> list[dict[str, Any]]:
    """Return the latest 40 acts of staff since then, on rows of tenants and of the installation, without views."""
    with_tenant = across_tenants(AuditEvent).filter(actor_kind=ActorKind.STAFF, occurred_at__gte=since)
    of_tenants = with_tenant.exclude(action__endswith=".viewed").select_related("tenant").order_by("-id")[:40]
    acts = [
        {"at": row.occurred_at, "who": row.actor_name, "action": row.action, "object": row.object_id,
         "tenant": row.tenant.name, "reason": row.reason}
        for row in of_tenants
    ]  # fmt: skip
    noted = StaffEvent.objects.filter(occurred_at__gte=since, details__has_key="reason").order_by("-id")[:40]
    acts += [
        {"at": row.occurred_at, "who": row.email, "action": row.action, "object": row.details.get("row", ""),
         "tenant": "", "reason": row.details["reason"]}
        for row in noted
    ]  # fmt: skip
    return sorted(acts, key=lambda act: act["at"], reverse=True)[:40]
