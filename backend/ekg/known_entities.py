"""The entities of an index version that are nearest to new mentions, for linking."""

from __future__ import annotations

from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from backend.ekg.models import Entity
from backend.ekg.stored_rows import read_entity
from backend.ekg.view_search import half
from backend.tenancy.context import tenant_scope
from gpu_workers.engine import ekg


def nearest_entities(
    tenant_id: UUID, video_id: UUID, version: int, embeddings: NDArray[np.float32], *, limit: int, floor: float = -1.0
) -> list[list[tuple[ekg.Entity, float]]]:
    """Return, for each row of embeddings, entities of one index version with the cosine similarity of their centroid.

    Nearest first, ties by id, none below floor; one query for all rows. Exact: every centroid is compared.
    """
    nearest: list[list[tuple[ekg.Entity, float]]] = [[] for _ in embeddings]
    with tenant_scope(tenant_id):
        rows = list(Entity.objects.raw(_NEAREST_ENTITIES, {
            "vectors": [half(row) for row in embeddings], "tenant": tenant_id, "video": video_id, "version": version,
            "limit": limit, "floor": floor,
        }))  # fmt: skip
    entities: dict[UUID, ekg.Entity] = {}
    for row in rows:
        entity = entities.get(row.id) or entities.setdefault(row.id, read_entity(row))
        nearest[row.ordinality - 1].append((entity, float(row.similarity)))
    return nearest


# Each centroid is read once and compared with all vectors. OFFSET 0 keeps the planner from swapping the loops, which
# would read all centroids again for every vector. The cheaper inner product excludes most before the exact cosine.
_NEAREST_ENTITIES = """
    SELECT ranked.ordinality, ranked.similarity, entity.*
    FROM (
        SELECT near.ordinality, e.id, near.similarity,
            row_number() OVER (PARTITION BY near.ordinality ORDER BY near.similarity DESC, e.id) AS rank
        FROM ekg_entity e CROSS JOIN LATERAL (
            SELECT wanted.ordinality, 1 - (e.centroid <=> wanted.vector) AS similarity
            FROM unnest(%(vectors)s::halfvec[]) WITH ORDINALITY AS wanted(vector)
            WHERE -(e.centroid <#> wanted.vector) >= %(floor)s - 0.01 OFFSET 0
        ) near
        WHERE e.tenant_id = %(tenant)s AND e.video_id = %(video)s AND e.index_version = %(version)s
        AND near.similarity >= %(floor)s
    ) ranked JOIN ekg_entity entity ON entity.id = ranked.id
    WHERE ranked.rank <= %(limit)s
    ORDER BY ranked.ordinality, ranked.similarity DESC, entity.id"""
