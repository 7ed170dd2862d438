"""What runs next, over all tenants: claims by class, as the dispatch role.

A worker claims the next job of a class itself, in one statement. What lies in the broker is a bell per class: it says
that there is work, and not which. A bell may be lost or doubled without harm.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connections, models, transaction
from django.db.models.functions import Now

from backend.jobs import breakers
from backend.jobs.clock import after
from backend.jobs.leases import Lease, lease_of
from backend.jobs.models import DUE, QUEUE_OF, RUNNING, SYSTEM, Job, JobKind, JobState, LostAttempt
from backend.observability.metrics import CLAIMS

CLASSES = tuple(sorted(set(QUEUE_OF.values())))
_KINDS_OF = {queue: {str(kind) for kind in QUEUE_OF if QUEUE_OF[kind] == queue} for queue in CLASSES}
SELF_CLAIMED = frozenset({QUEUE_OF[JobKind.DELIVER_WEBHOOK]})
"""Classes whose workers ask for work without a bell."""
SUSPENDED = "SELECT id FROM tenancy_tenant WHERE suspended_at IS NOT NULL"
LANE_CAP = 2
"""Maximum number of jobs of one lane that run at once: deliveries to one endpoint of webhooks, and
one tenant's fetches from one host."""


def _full(column: str, queue: str, cap: str) -> str:
    """Return SQL for the tenants or lanes of a class with as many running jobs as their cap allows.

    Few rows are read: no more than there are slots of workers. queue, cap: SQL of the class and its cap.
    """
    return (
        f"ANY(ARRAY(SELECT busy.{column} FROM jobs_job busy WHERE busy.queue = {queue} AND busy.state = 'running' "
        f"AND busy.lease_until >= now() AND busy.{column} IS NOT NULL GROUP BY busy.{column} HAVING count(*) >= {cap}))"
    )


def _is_unslowed(queue: str) -> str:
    """Return SQL that holds for a class that a throttled tenant keeps at full speed: the service's own work, and
    deliveries, of which one slow receiver would hold up all others. queue: SQL of the class."""
    return f"(starts_with({queue}, '{SYSTEM}') OR {queue} = '{QUEUE_OF[JobKind.DELIVER_WEBHOOK]}')"


def _tenant_cap(queue: str, cap: str) -> str:
    """Return SQL for the cap of the tenant `busy.tenant_id` in a class: its plan's, or cap, the class's; or what staff
    allow a throttled tenant, where that is less.

    Plans are looked up, one tenant at a time, only in a class in which a plan has a cap of its own.
    """
    return (
        f"least((SELECT slowed.jobs_at_once FROM tenancy_tenant slowed WHERE slowed.id = busy.tenant_id "
        f"AND slowed.jobs_at_once IS NOT NULL AND NOT {_is_unslowed(queue)}), "
        f"CASE WHEN %(plan_caps)s::jsonb ? ({queue})::text THEN "
        f"coalesce((SELECT (%(plan_caps)s::jsonb -> ({queue})::text ->> holder.plan)::float8 "
        f"FROM tenancy_tenant holder WHERE holder.id = busy.tenant_id), {cap}) ELSE {cap} END)"
    )


def _open_to(tenant: str, queue: str) -> str:
    """Return SQL that holds for a job whose tenant is not suspended. The service's own work goes on: deletions and
    sweeps. tenant, queue: SQL of the job's tenant and class."""
    return f"(starts_with({queue}, '{SYSTEM}') OR NOT {tenant} = ANY(ARRAY({SUSPENDED})))"


_BY_PRIORITY, _BY_TAG = "priority DESC, fair_tag, id", "fair_tag, id"
# Not the jobs that need a dependency that is away, by their kind or because they found it away themselves.
_FREE = "kind = ANY(%(free_kinds)s) AND dependency <> ALL(%(held)s)"
# A tenant that moves to another cell begins nothing here.
_STAYS = "tenant_id <> ALL(ARRAY(SELECT moving.id FROM tenancy_tenant moving WHERE moving.fence <> ''))"


def _admitted(queue: str) -> str:
    """Return SQL that holds for a job whose tenant may begin work of this class."""
    return f"{_open_to('tenant_id', queue)} AND {_STAYS}"


def _may_run(queue: str, tenant_cap: str) -> str:
    """Return SQL that admits the jobs of a class that may run. A tenant or a lane at its cap is passed over."""
    return (
        f"queue = {queue} AND state = 'queued' AND due AND paused_at IS NULL AND {_admitted(queue)} "
        f"AND NOT tenant_id = {_full('tenant_id', queue, _tenant_cap(queue, tenant_cap))} "
        f"AND (lane IS NULL OR NOT lane = {_full('lane', queue, '%(lane_cap)s')}) AND dependency <> ALL(%(held)s)"
    )


_TAKE = (
    "UPDATE jobs_job SET state = 'running', lease_owner = %(worker)s, lease_token = lease_token + 1, "
    "attempt = attempt + 1, lease_until = now() + %(lease)s * interval '1 second', heartbeat_at = now(), "
    "started_at = now(), rerun_requested = rerun_requested AND cancel_requested_at IS NOT NULL FROM chosen "
    "WHERE jobs_job.tenant_id = chosen.tenant_id AND jobs_job.id = chosen.id "
    "RETURNING jobs_job.*, statement_timestamp() AS now"
)
# A job that lost its worker goes before new ones. A job whose deadline has passed waits for nothing: it ends. The time
# of the lost attempt is noted for the classes that use devices.
_ABANDONED = (
    "WITH abandoned AS MATERIALIZED (SELECT tenant_id, id, started_at, lease_until FROM jobs_job "
    "WHERE queue = %(queue)s AND state = 'running' "
    f"AND lease_until < now() AND (deadline_at < now() OR {_FREE}) AND {_admitted('%(queue)s')} "
    "ORDER BY lease_until LIMIT 1 FOR UPDATE SKIP LOCKED), "
    "overdue AS MATERIALIZED (SELECT tenant_id, id FROM jobs_job WHERE queue = %(queue)s AND state = 'queued' "
    f"AND paused_at IS NULL AND deadline_at < now() AND {_admitted('%(queue)s')} "
    "AND NOT EXISTS (SELECT FROM abandoned) "
    "ORDER BY deadline_at LIMIT 1 FOR UPDATE SKIP LOCKED), "
    "lost AS (INSERT INTO jobs_lostattempt (id, day, seconds) "
    "SELECT gen_random_uuid(), (lease_until AT TIME ZONE 'UTC')::date, "
    "coalesce(extract(epoch FROM lease_until - started_at), 0) "
    "FROM abandoned WHERE starts_with(%(queue)s, 'gpu.')), "
    f"chosen AS (SELECT tenant_id, id FROM abandoned UNION ALL SELECT * FROM overdue) {_TAKE}"
)
_FIRST = (
    "SELECT tenant_id, id, fair_tag, priority FROM jobs_job "
    f"WHERE {_may_run('%(queue)s', '%(tenant_cap)s')} AND {{kind}} ORDER BY {{order}} LIMIT 1 FOR UPDATE SKIP LOCKED"
)
# While something is away, the first job of each kind that does not need it: whatever waits is not read one by one.
_FIRST_OF_KINDS = (
    "SELECT first.* FROM unnest(%(free_kinds)s::text[]) AS free(kind), "
    f"LATERAL ({_FIRST.format(kind='kind = free.kind', order=_BY_PRIORITY)}) first ORDER BY {_BY_PRIORITY} LIMIT 1"
)
# A clock whose row another claim holds is left alone: that claim may stand still, and a later one moves the clock.
_NEXT = (
    "WITH chosen AS MATERIALIZED ({first}), begun AS (INSERT INTO jobs_classclock (queue, served_tag) "
    "SELECT %(queue)s, fair_tag FROM chosen WHERE NOT EXISTS (SELECT FROM jobs_classclock WHERE queue = %(queue)s) "
    "ON CONFLICT (queue) DO NOTHING), "
    "late AS MATERIALIZED (SELECT clock.queue, chosen.fair_tag FROM jobs_classclock clock, chosen "
    "WHERE clock.queue = %(queue)s AND clock.served_tag < chosen.fair_tag FOR UPDATE OF clock SKIP LOCKED), "
    "served AS (UPDATE jobs_classclock SET served_tag = late.fair_tag FROM late "
    "WHERE jobs_classclock.queue = late.queue) "
    f"{_TAKE}"
)
_WAIT = f"SELECT FROM jobs_job WHERE {_may_run('class.queue', 'class.cap')} AND {{kind}} LIMIT %(most)s"
_WAIT_OF_KINDS = (
    "SELECT FROM unnest(%(free_kinds)s::text[]) AS free(kind), "
    f"LATERAL ({_WAIT.format(kind='kind = free.kind')}) one LIMIT %(most)s"
)
_RENEW = (
    "WITH mine AS MATERIALIZED (SELECT job.tenant_id, job.id FROM jobs_job job "
    "JOIN unnest(%(tenants)s::uuid[], %(ids)s::uuid[], %(tokens)s::bigint[]) AS held(tenant_id, id, token) "
    "ON job.tenant_id = held.tenant_id AND job.id = held.id AND job.lease_token = held.token "
    f"WHERE job.state = 'running' AND job.cancel_requested_at IS NULL AND {_open_to('job.tenant_id', 'job.queue')} "
    "ORDER BY job.id FOR UPDATE OF job) "
    "UPDATE jobs_job SET heartbeat_at = now(), lease_until = now() + %(lease)s * interval '1 second' FROM mine "
    "WHERE jobs_job.tenant_id = mine.tenant_id AND jobs_job.id = mine.id RETURNING jobs_job.id"
)
# All classes in one statement, because an idle relay asks ten times a second.
_RUNNABLE = (
    "SELECT class.queue, (SELECT count(*) FROM ({wait}) waiting) + "
    "(SELECT count(*) FROM (SELECT FROM jobs_job WHERE queue = class.queue AND state = 'running' "
    f"AND lease_until < now() AND (deadline_at < now() OR {_FREE}) AND {_admitted('class.queue')} "
    "LIMIT %(most)s) abandoned) + "
    "(SELECT count(*) FROM (SELECT FROM jobs_job WHERE queue = class.queue AND state = 'queued' "
    f"AND paused_at IS NULL AND deadline_at < now() AND {_admitted('class.queue')} "
    "LIMIT %(most)s) overdue) "
    "FROM unnest(%(queues)s::text[], %(caps)s::float8[]) AS class(queue, cap)"
)
_TENANTS_AT_CAP = _full("tenant_id", "%(queue)s", _tenant_cap("%(queue)s", "%(tenant_cap)s"))
_WAITING = (
    "SELECT id, tenant_id, kind, priority, fair_tag, extract(epoch FROM now() - not_before)::float8, "
    f"CASE WHEN NOT {_open_to('tenant_id', '%(queue)s')} THEN 'tenant_suspended' "
    f"WHEN NOT {_STAYS} THEN 'tenant_moving' WHEN deadline_at < now() THEN '' "
    f"WHEN tenant_id = {_TENANTS_AT_CAP} THEN 'tenant_at_cap' "
    f"WHEN lane = {_full('lane', '%(queue)s', '%(lane_cap)s')} THEN 'lane_at_cap' "
    f"WHEN NOT ({_FREE}) THEN 'dependency_away' ELSE '' END FROM jobs_job WHERE queue = %(queue)s "
    f"AND state = 'queued' AND due AND paused_at IS NULL ORDER BY {_BY_PRIORITY} LIMIT %(limit)s"
)
# A row that somebody holds is left for the next pass: one that stands still must not stop the bells of all.
_MARK_DUE = (
    "UPDATE jobs_job SET due = true FROM (SELECT tenant_id, id FROM jobs_job WHERE state = 'queued' AND NOT due "
    "AND not_before <= now() FOR UPDATE SKIP LOCKED) ripe "
    "WHERE jobs_job.tenant_id = ripe.tenant_id AND jobs_job.id = ripe.id"
)
# Only jobs that a worker could claim: one more worker helps no job that waits for its tenant's cap or for a dependency.
_AGES = (
    "SELECT class.queue, extract(epoch FROM now() - (SELECT min(not_before) FROM jobs_job "
    f"WHERE {_may_run('class.queue', 'class.cap')} AND kind = ANY(%(free_kinds)s)))::float8 "
    "FROM unnest(%(queues)s::text[], %(caps)s::float8[]) AS class(queue, cap)"
)
_NO_CAP = float(2**31 - 1)


def _parameters(queue: str, held: Collection[str]) -> dict[str, Any]:
    caps = {"tenant_cap": settings.JOBS_PER_TENANT.get(queue, _NO_CAP), "lane_cap": LANE_CAP, **_plan_caps()}
    return {"queue": queue, **caps, **_held(held)}


def _plan_caps() -> dict[str, str]:
    """Return the caps of plans as JSON, by class and plan: the entries `class@plan` of JOBS_PER_TENANT."""
    caps: dict[str, dict[str, float]] = {}
    for name, cap in settings.JOBS_PER_TENANT.items():
        queue, at, plan = name.partition("@")
        if at:
            caps.setdefault(queue, {})[plan] = cap
    return {"plan_caps": json.dumps(caps)}


def _held(dependencies: Collection[str]) -> dict[str, Any]:
    """Return the parameters of _FREE. dependencies: those that are away and that no job may try now."""
    kinds = [str(kind) for kind in JobKind if breakers.needs(kind).isdisjoint(dependencies)]
    return {"held": list(dependencies), "free_kinds": kinds}


def _away() -> list[str]:
    return [outage.dependency for outage in breakers.outages() if not outage.ready]


def claim_next(queue: str, *, worker: str, any_priority: bool = False) -> Lease | None:
    """Claim the job of this class that runs next, over all tenants; None if none may run now.

    Jobs whose lease expired come first, then the highest priority, then the lowest fair tag. any_priority: the lowest
    fair tag of all priorities. A cap may be passed by claims of the same instant. A job that needs a dependency that is
    away is claimed only to try it, one job at a time, or to end it after its deadline.
    """
    with transaction.atomic(using="dispatch"):
        away = frozenset(outage.dependency for outage in breakers.outages())
        ready = breakers.lock_ready() if away else frozenset()
        parameters = _parameters(queue, away - ready) | {"worker": worker, "lease": settings.LEASE_SECONDS}
        any_kind = _FIRST.format(kind="true", order=_BY_TAG if any_priority else _BY_PRIORITY)
        first = any_kind if _KINDS_OF[queue] <= set(parameters["free_kinds"]) else _FIRST_OF_KINDS
        for how, statement in (("expired", _ABANDONED), ("next", _NEXT.format(first=first))):
            for job in Job.unscoped.using("dispatch").raw(statement, parameters):
                probing = breakers.needs(JobKind(job.kind), job.dependency) & ready
                if probing:
                    breakers.probe(job.id, probing)
                CLAIMS.labels(queue, job.kind, how).inc()
                return lease_of(job, probing)
    return None


def renew(leases: Sequence[Lease]) -> set[UUID]:
    """Renew the leases of many jobs in one statement. Returns the ids of the jobs that are still held.

    A job that is missing was taken over, or somebody asked to cancel it: its work stops. Rows are locked in the order
    of their ids, as cancellations lock the jobs of one kind.
    """
    parameters: dict[str, Any] = {
        "tenants": [lease.tenant_id for lease in leases],
        "ids": [lease.job_id for lease in leases],
        "tokens": [lease.token for lease in leases],
        "lease": settings.LEASE_SECONDS,
    }
    with transaction.atomic(using="dispatch"), connections["dispatch"].cursor() as cursor:
        cursor.execute(_RENEW, parameters)
        return {job_id for (job_id,) in cursor.fetchall()}


def runnable(*queues: str, most: int) -> dict[str, int]:
    """Return how many jobs of each class could be claimed now, counted up to about most."""
    parameters = _of_classes(queues) | {"most": most} | _held(_away())
    wait = _WAIT_OF_KINDS if parameters["held"] else _WAIT.format(kind="true")
    with connections["dispatch"].cursor() as cursor:
        cursor.execute(_RUNNABLE.format(wait=wait), parameters)
        return dict(cursor.fetchall())


def _of_classes(queues: Sequence[str]) -> dict[str, Any]:
    caps = [float(settings.JOBS_PER_TENANT.get(queue, _NO_CAP)) for queue in queues]
    return {"queues": list(queues), "caps": caps, "lane_cap": LANE_CAP, **_plan_caps()}


def lost_seconds(day: date) -> tuple[int, Decimal]:
    """Return how many attempts of the classes that use devices lost their worker on a day (UTC), and for how long they
    had their leases together: the most that their processes can have worked."""
    of_day = LostAttempt.objects.filter(day=day)
    seconds: Decimal = of_day.aggregate(all=models.Sum("seconds", default=Decimal(0)))["all"]
    return of_day.count(), seconds


def mark_due() -> int:
    """Let the jobs run whose time has come. Returns their number."""
    with connections["dispatch"].cursor() as cursor:
        cursor.execute(_MARK_DUE)
        return int(cursor.rowcount)


@dataclass(frozen=True, slots=True)
class NextJob:
    """A waiting job, for an operator. waited_s: seconds for which it has been due. reason: why it does not run now, ""
    if it may."""

    job_id: UUID
    tenant_id: UUID
    kind: str
    priority: int
    fair_tag: float
    waited_s: float
    reason: str


def next_jobs(queue: str, *, limit: int) -> list[NextJob]:
    """Return the jobs of a class in the order in which they would run."""
    with connections["dispatch"].cursor() as cursor:
        cursor.execute(_WAITING, _parameters(queue, _away()) | {"limit": limit})
        return [NextJob(*row) for row in cursor.fetchall()]


def oldest_runnable_age_seconds() -> dict[str, float]:
    """Return, per queue, how long the oldest job that may run has waited; worker groups are scaled by this age.

    Jobs that an outage, a cap, a suspension or a move holds are not counted: more workers would not help them.
    """
    held = _held([outage.dependency for outage in breakers.outages()])
    with connections["dispatch"].cursor() as cursor:
        cursor.execute(_AGES, _of_classes(CLASSES) | held)
        return {queue: age for queue, age in cursor.fetchall() if age is not None}


def running_jobs() -> dict[str, int]:
    """Return, per queue, how many jobs run; a worker group that works is not idle, even if nothing waits.

    A job whose lease has expired counts too, because a worker must run it again.
    """
    counts = Job.unscoped.using("dispatch").filter(RUNNING).values_list("queue").annotate(running=models.Count("id"))
    return dict(counts.order_by("queue"))


def dead_jobs(*, within: timedelta) -> int:
    """Return how many jobs used up their attempts or their time within this time."""
    dead: int = Job.unscoped.using("dispatch").filter(state=JobState.DEAD, completed_at__gte=after(-within)).count()
    return dead


def jobs_of(owners: Sequence[str]) -> int:
    """Return how many jobs run under a lease of one of these workers' processes."""
    held = Job.unscoped.using("dispatch").filter(RUNNING, lease_owner__in=owners, lease_until__gte=Now())
    return int(held.count())


def waiting_jobs() -> dict[str, int]:
    """Return, per queue, how many jobs are due and wait for a worker."""
    counts = Job.unscoped.using("dispatch").filter(DUE).values_list("queue").annotate(waiting=models.Count("id"))
    return dict(counts.order_by("queue"))
