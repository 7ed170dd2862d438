"""Reads of what an index holds over the time of a video, of its entities, and of the work on its segments."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from backend.billing.models import SEGMENT
from backend.console.queries.role import across_tenants, rows
from backend.ekg.models import Chunk, Entity, Event, Relation, TrackedObject, TranscriptLine
from backend.jobs.models import Job, JobKind
from backend.library.models import Video

MOST = 1_000
"""Maximum number of marks of one kind in a timeline."""
MOST_ENTITIES = 24
"""Maximum number of entities of a drawn graph: more of them have no room for their names."""


def marks(video: Video) -> dict[str, list[dict[str, Any]]]:
    """Return the first MOST events, lines of speech, objects and gaps of the active version, by kind.

    Each mark has start_ms, end_ms and words.
    """
    scope = {"tenant_id": video.tenant_id, "video_id": video.id, "index_version": video.active_index_version}
    columns: dict[str, tuple[Any, str, dict[str, Any]]] = {
        "events": (Event, "summary", {}),
        "speech": (TranscriptLine, "text", {}),
        "objects": (TrackedObject, "category", {}),
        "gaps": (Chunk, "gap", {"gap__isnull": False}),
    }
    found = {}
    for kind, (model, words, wanted) in columns.items():
        rows_of_kind = across_tenants(model).filter(**scope, **wanted).order_by("start_ms")
        found[kind] = [
            {"start_ms": row["start_ms"], "end_ms": row["end_ms"], "words": row[words]}
            for row in rows_of_kind.values("start_ms", "end_ms", words)[:MOST]
        ]
    return found


def entities(video: Video) -> tuple[list[Entity], list[Relation]]:
    """Return the weightiest entities of the active version, and the relations among them."""
    scope = {"tenant_id": video.tenant_id, "video_id": video.id, "index_version": video.active_index_version}
    found = list(across_tenants(Entity).filter(**scope).defer("centroid").order_by("-weight", "name")[:MOST_ENTITIES])
    ids = [entity.id for entity in found]
    related = across_tenants(Relation).filter(**scope, source_id__in=ids, target_id__in=ids)
    return found, list(related.order_by("-confidence", "id")[:200])


def segment_work(video: Video) -> dict[UUID, dict[str, Any]]:
    """Return the cost, the models and the observing job of each segment, by the segment's id."""
    spent = rows(
        "SELECT source_id, sum(cost_amount) AS cost, "
        "array_agg(DISTINCT model ORDER BY model) FILTER (WHERE model <> '') AS models FROM billing_usageevent "
        "WHERE tenant_id = %(tenant)s AND video_id = %(video)s AND source_type = %(segment)s GROUP BY source_id",
        {"tenant": video.tenant_id, "video": video.id, "segment": SEGMENT},
    )
    work: dict[UUID, dict[str, Any]] = {
        UUID(row["source_id"]): {"cost": row["cost"], "models": row["models"] or []} for row in spent
    }
    jobs = across_tenants(Job).filter(tenant_id=video.tenant_id, video_id=video.id, kind=JobKind.OBSERVE_SEGMENT)
    for job in jobs.order_by("id")[:MOST]:
        work.setdefault(job.subject_id, {"cost": None, "models": []})["job"] = job
    return work
