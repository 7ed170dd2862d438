"""Reads of what an index holds over the time of a video, of its entities, and of the work on its segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, F, FloatField, Max, Min, QuerySet, Value
from django.db.models.functions import Cast, Floor

from backend.billing.models import SEGMENT
from backend.console.queries.role import of_same_tenant, rows
from backend.ekg.models import Chunk, Entity, Event, Relation, TrackedObject, TranscriptLine
from backend.jobs.models import Job, JobKind
from backend.library.models import Segment, Video
from backend.tenancy.models import TenantRow

MOST_DRAWN = 120
"""Maximum number of marks of one kind that a timeline draws one by one."""
SPANS = 120
"""Equal spans of a video whose marks are drawn together where there are more of them."""
MOST_ENTITIES = 24
"""Maximum number of entities of a drawn graph: more of them have no room for their names."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of mark. words: the column that says what it is. counted: its name in index_counts()."""

    model: type[TenantRow]
    words: str
    counted: str


KINDS = {
    "events": Kind(Event, "summary", "event"),
    "speech": Kind(TranscriptLine, "text", "transcriptline"),
    "objects": Kind(TrackedObject, "category", "trackedobject"),
    "gaps": Kind(Chunk, "gap", "gaps"),
}


def marks(video: Video, kind: str) -> QuerySet[Any]:
    """Return the marks of a kind in the active version in the order of time: start_ms, end_ms and shown, in words."""
    found = _of_kind(video, kind).order_by("start_ms", "id")
    return found.values("start_ms", "end_ms", shown=F(KINDS[kind].words))


def drawn(video: Video, kind: str, count: int) -> list[dict[str, Any]]:
    """Return what a timeline draws of the count marks of a kind: each, or one for each span with several marks in it.

    Every mark lies in something that is drawn.
    """
    if count <= MOST_DRAWN:
        return list(marks(video, kind)[:MOST_DRAWN])
    whole = max(video.duration_ms or video.indexed_until_ms, 1)
    span = Floor(Cast(F("start_ms"), FloatField()) * SPANS / Value(float(whole)))
    found = _of_kind(video, kind).order_by().annotate(span=span).values("span")
    summed = found.annotate(begin=Min("start_ms"), end=Max("end_ms"), n=Count("id")).order_by("span")
    return [{"start_ms": row["begin"], "end_ms": row["end"], "shown": f"{row['n']} {kind}"} for row in summed]


def _of_kind(video: Video, kind: str) -> QuerySet[Any]:
    of_video = of_same_tenant(KINDS[kind].model, video).filter(video_id=video.id)
    found = of_video.filter(index_version=video.active_index_version)
    return found.filter(gap__isnull=False) if kind == "gaps" else found


def entities(video: Video) -> tuple[list[Entity], list[Relation]]:
    """Return the weightiest entities of the active version, and the relations among them."""
    scope = {"video_id": video.id, "index_version": video.active_index_version}
    of_version = of_same_tenant(Entity, video).filter(**scope)
    found = list(of_version.defer("centroid").order_by("-weight", "name")[:MOST_ENTITIES])
    ids = [entity.id for entity in found]
    related = of_same_tenant(Relation, video).filter(**scope, source_id__in=ids, target_id__in=ids)
    return found, list(related.order_by("-confidence", "id")[:200])


def segment_work(video: Video, segments: Sequence[Segment]) -> dict[UUID, dict[str, Any]]:
    """Return the cost, the models and the observing job of segments of a video, by the segment's id."""
    ids = [segment.id for segment in segments]
    spent = rows(
        "SELECT source_id, sum(cost_amount) AS cost, "
        "array_agg(DISTINCT model ORDER BY model) FILTER (WHERE model <> '') AS models FROM billing_usageevent "
        "WHERE tenant_id = %(tenant)s AND source_type = %(segment)s AND source_id = ANY(%(ids)s) GROUP BY source_id",
        {"tenant": video.tenant_id, "segment": SEGMENT, "ids": [str(id) for id in ids]},
    )
    work: dict[UUID, dict[str, Any]] = {
        UUID(row["source_id"]): {"cost": row["cost"], "models": row["models"] or []} for row in spent
    }
    jobs = of_same_tenant(Job, video).filter(subject_id__in=ids, kind=JobKind.OBSERVE_SEGMENT)
    for job in jobs.order_by("id"):
        work.setdefault(job.subject_id, {"cost": None, "models": []})["job"] = job
    return work
