"""The order in which the jobs of all tenants run: start-time fair queueing (Goyal, Vin, Cheng 1996).

A job's tag is the time, on a clock that counts work, at which it would start if every tenant had an equal share of the
class: the later of the class's clock and the end of the tenant's last job, whose length is its cost over the tenant's
weight. The job with the lowest tag runs next. So a tenant that comes with one job waits for one job of each of the
others, however many they have, and a tenant that was idle has saved up nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from backend.jobs.models import QUEUE_OF, JobKind
from backend.tenancy.context import current_tenant_id

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
    "AND priority = %(priority)s AND state IN ('queued', 'running') AND (paused_at IS NULL OR %(with_paused)s)) "
    "FROM tenancy_tenant t WHERE t.id = %(tenant)s"
)


def fair_tags(
    kind: JobKind, tenant_id: UUID, *, priority: int, count: int = 1, queue: str | None = None
) -> list[float]:
    """Return the tags of count new jobs of the open tenant, in the order in which it wants them.

    queue: the class of the jobs; None for that of their kind.
    """
    served, last, step = _served(kind, tenant_id, priority=priority, with_paused=True, queue=queue)
    first = served if last is None else max(served, last + step)
    return [first + step * place for place in range(count)]


def tags_after_pause(
    kind: JobKind, tenant_id: UUID, *, priority: int, queue: str, tags: Sequence[float]
) -> list[float]:
    """Return new tags of jobs that are still paused. queue: their class. tags: their present ones, in ascending order.

    They come after the tenant's jobs that wait and run, and not before the clock, as if they came now. So a pause saves
    up no share; and if nothing ran meanwhile, nothing changes.
    """
    served, last, step = _served(kind, tenant_id, priority=priority, with_paused=False, queue=queue)
    following = served if last is None else max(served, last + step)
    new = []
    for tag in tags:
        new.append(max(tag, following))
        following = new[-1] + step
    return new


def tag_of_next_run(kind: JobKind, tenant_id: UUID, *, priority: int, queue: str, tag: float) -> float:
    """Return the tag with which a job runs once more. tag: of the run that ends, which the new one pays for.

    It comes before the tenant's later jobs, as its subject waits for nothing else, and not before the clock: a job that
    is asked for again and again would otherwise be the first of all tenants' each time.
    """
    served, _, step = _served(kind, tenant_id, priority=priority, with_paused=True, queue=queue)
    return max(served, tag + step)


def _served(
    kind: JobKind, tenant_id: UUID, *, priority: int, with_paused: bool, queue: str | None = None
) -> tuple[float, float | None, float]:
    """Return the clock of the class, the last tag of the tenant's open jobs, and the length of a job of this kind."""
    lane: dict[str, Any] = {"queue": queue or QUEUE_OF[kind], "tenant": tenant_id, "priority": priority}
    with connection.cursor() as cursor:
        cursor.execute(_SERVED, lane | {"with_paused": with_paused})
        plan, served, last = cursor.fetchone()
    return float(served), last, COST_OF.get(kind, 1.0) / settings.PLAN_WEIGHTS.get(plan, 1.0)


_RANKED = (
    "SELECT EXISTS (SELECT FROM jobs_job WHERE tenant_id = %(tenant)s AND queue = %(queue)s "
    "AND priority = %(priority)s AND state = 'queued' AND rank <> 0)"
)
# The tags stay, and only their owners change: for the other tenants nothing happens. A job that is being claimed is
# skipped, so nobody waits.
_REORDER = (
    "WITH mine AS MATERIALIZED (SELECT id, rank, fair_tag FROM jobs_job WHERE tenant_id = %(tenant)s "
    "AND queue = %(queue)s AND priority = %(priority)s AND state = 'queued' AND paused_at IS NULL "
    "FOR UPDATE SKIP LOCKED), "
    "tags AS (SELECT fair_tag, row_number() OVER (ORDER BY fair_tag, id) AS place FROM mine), "
    "wanted AS (SELECT id, fair_tag, row_number() OVER (ORDER BY rank DESC, fair_tag, id) AS place FROM mine) "
    "UPDATE jobs_job SET fair_tag = tags.fair_tag FROM wanted JOIN tags USING (place) "
    "WHERE jobs_job.tenant_id = %(tenant)s AND jobs_job.id = wanted.id AND wanted.fair_tag <> tags.fair_tag"
)


def put_in_rank_order(queue: str, priority: int) -> None:
    """Deal out again the tags of the tenant's waiting jobs of one class and priority: a higher rank gets a lower tag.

    Does nothing as long as all of them have the normal rank.
    """
    lane: dict[str, Any] = {"tenant": current_tenant_id(), "queue": queue, "priority": priority}
    with connection.cursor() as cursor:
        cursor.execute(_RANKED, lane)
        if cursor.fetchone() == (True,):
            cursor.execute(_REORDER, lane)
