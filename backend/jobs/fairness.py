"""The order in which the jobs of all tenants run: start-time fair queueing (Goyal, Vin, Cheng 1996).

A job's tag is the time, on a clock that counts work, at which it would start if every tenant had an equal share of the
class: the later of the class's clock and the end of the tenant's last job, whose length is its cost over the tenant's
weight. The job with the lowest tag runs next. So a tenant that comes with one job waits for one job of each of the
others, however many they have, and a tenant that was idle has saved up nothing.
"""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.db import connection

from backend.jobs.models import QUEUE_OF, JobKind

COST_OF: dict[JobKind, float] = {
    JobKind.OBSERVE_SEGMENT: 30.0,
    JobKind.ASSEMBLE_VIDEO: 20.0,
    JobKind.SUMMARISE_VIDEO: 10.0,
    JobKind.ANSWER_QUESTION: 10.0,
    JobKind.GRADE_COMPARISON: 2.0,
    JobKind.FETCH_SEGMENT: 30.0,
    JobKind.INGEST_SEGMENT: 5.0,
    JobKind.PROBE_VIDEO: 5.0,
    JobKind.PURGE_VIDEO: 5.0,
}
"""Cost of a job in rough seconds of work; 1 where a kind is missing. Only ratios inside a class matter."""

ANY_PRIORITY_EVERY = 8
"""Every so many claims of a worker the lowest tag runs whatever its priority, so that low priority never starves."""

_SERVED = (
    "SELECT t.plan, coalesce((SELECT served_tag FROM jobs_classclock WHERE queue = %(queue)s), 0), "
    "(SELECT max(fair_tag) FROM jobs_job WHERE tenant_id = %(tenant)s AND queue = %(queue)s "
    "AND priority = %(priority)s AND state IN ('queued', 'running')) "
    "FROM tenancy_tenant t WHERE t.id = %(tenant)s"
)


def fair_tags(
    kind: JobKind, tenant_id: UUID, *, priority: int, count: int = 1, queue: str | None = None
) -> list[float]:
    """Return the tags of count new jobs of the open tenant, in the order in which it wants them.

    queue: the class of the jobs; None for that of their kind.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SERVED, {"queue": queue or QUEUE_OF[kind], "tenant": tenant_id, "priority": priority})
        plan, served, last = cursor.fetchone()
    step = COST_OF.get(kind, 1.0) / settings.PLAN_WEIGHTS.get(plan, 1.0)
    first = served if last is None else max(served, last + step)
    return [float(first) + step * place for place in range(count)]
