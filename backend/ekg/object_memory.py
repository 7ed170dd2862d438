"""The object memory in Postgres: the reads of re-identification, and the writes of one step of assembly."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.db.models import FloatField
from django.db.models.expressions import RawSQL
from pgvector import HalfVector

from backend.ekg.models import Track, TrackedObject
from backend.ekg.stored_rows import read_track, stored_vector
from backend.tenancy.context import current_tenant_id, tenant_scope
from gpu_workers.engine.ekg import ObjectState, Place, Span, TrackObservation, Vector
from gpu_workers.engine.indexing.objects import LinkedTracks, most_alike

_STATE = (
    "category", "colour", "start_ms", "end_ms", "spans", "segments", "tracks", "observations", "entries", "exits",
    "confidence", "weight", "embedding", "embedding_model", "memory",
)  # fmt: skip


def unlinked_tracks(video_id: UUID, version: int, segment_n: int) -> tuple[list[UUID], list[TrackObservation]]:
    """Return ids and contents of the segment's tracks that have no object yet; inside an open tenant_scope."""
    rows = list(
        Track.objects.filter(video_id=video_id, index_version=version, segment_n=segment_n, object=None)
        .defer("crop_embedding")
        .order_by("track_no")
    )
    return [row.id for row in rows], [read_track(row) for row in rows]


def object_numbers(video_id: UUID, version: int, since_ms: int) -> dict[int, int]:
    """Return the number of each track's object by the track's number, for tracks that end after since_ms.

    Inside an open tenant_scope.
    """
    rows = Track.objects.filter(video_id=video_id, index_version=version, end_ms__gt=since_ms).exclude(object=None)
    return dict(rows.values_list("track_no", "object__n"))


def store_objects(linked: LinkedTracks, track_ids: Sequence[UUID], *, video_id: UUID, version: int, model: str) -> None:
    """Store the objects of one segment and assign its tracks to them; inside an open tenant_scope.

    track_ids: ids of the linked tracks, in their order. model: the model of the appearance vectors.
    """
    scope = {"tenant_id": current_tenant_id(), "video_id": video_id, "index_version": version}
    TrackedObject.objects.bulk_create(
        [TrackedObject(id=state.id, **scope, n=state.n, **_columns(state, model)) for state in linked.objects],
        update_conflicts=True,
        unique_fields=["tenant", "id"],
        update_fields=list(_STATE),
    )
    for state in linked.objects:
        mine = [track_id for track_id, owner in zip(track_ids, linked.object_of, strict=True) if owner == state.id]
        Track.objects.filter(id__in=mine).update(object_id=state.id)


def objects_of(video_id: UUID, version: int) -> list[ObjectState]:
    """Return all objects of a version by their number, without their appearance; inside an open tenant_scope."""
    rows = TrackedObject.objects.filter(video_id=video_id, index_version=version).defer("embedding").order_by("n")
    return [_state(row, looks=False) for row in rows]


class StagedObjects:
    """Known objects by appearance (pgvector), replaced by the objects of segments that are not yet committed.

    Implements the engine's ports.ObjectDirectory. tenant_id is bound here; each look-up is a transaction of its own.
    """

    def __init__(self, tenant_id: UUID, video_id: UUID, version: int, *, model: str) -> None:
        self._tenant_id = tenant_id
        self._scope = {"video_id": video_id, "index_version": version}
        self._model = model
        self._staged: dict[UUID, ObjectState] = {}

    def stage(self, linked: LinkedTracks) -> None:
        self._staged.update((state.id, state) for state in linked.objects)

    def count(self) -> int:
        with tenant_scope(self._tenant_id):
            last = TrackedObject.objects.filter(**self._scope).order_by("-n").values_list("n", flat=True).first()
        committed = 0 if last is None else int(last) + 1
        return max([committed, *(state.n + 1 for state in self._staged.values())])

    def recent(self, since_ms: int) -> Sequence[ObjectState]:
        with tenant_scope(self._tenant_id):
            rows = list(TrackedObject.objects.filter(**self._scope, end_ms__gt=since_ms))
        states = [_state(row) for row in rows if row.id not in self._staged]
        states += [state for state in self._staged.values() if state.span.end_ms > since_ms]
        return sorted(states, key=lambda state: state.n)

    def alike(
        self, categories: Collection[str], appearance: Vector, *, limit: int
    ) -> Sequence[tuple[ObjectState, float]]:
        query = HalfVector(appearance.tolist()).to_text()
        with tenant_scope(self._tenant_id):
            rows = list(
                TrackedObject.objects.filter(
                    **self._scope,
                    category__in=sorted(categories),
                    embedding_model=_model_of(self._model, appearance),
                )
                .annotate(distance=RawSQL("embedding <=> %s::halfvec", [query], output_field=FloatField()))
                .order_by("distance", "n")[: limit + len(self._staged)]
            )
        states = [_state(row) for row in rows if row.id not in self._staged]
        return most_alike([*states, *self._staged.values()], categories, appearance, limit=limit)


def _model_of(name: str, appearance: Vector | None) -> str:
    """Return the model's name with the vector's length, because vectors of different lengths are not comparable."""
    return "" if appearance is None else f"{name}-{len(appearance)}"


def _columns(state: ObjectState, model: str) -> dict[str, Any]:
    return {
        "category": state.category,
        "colour": state.colour,
        "start_ms": state.span.start_ms,
        "end_ms": state.span.end_ms,
        "spans": [[span.start_ms, span.end_ms] for span in state.spans],
        "segments": list(state.segments),
        "tracks": state.tracks,
        "observations": state.observations,
        "entries": state.entries,
        "exits": state.exits,
        "confidence": state.confidence,
        "weight": state.weight,
        "embedding": None if state.embedding is None else HalfVector(state.embedding.tolist()),
        "embedding_model": _model_of(model, state.embedding),
        "memory": {
            "categories": dict(state.categories),
            "colours": dict(state.colours),
            "last": [state.last.ms, *state.last.box],
            "drift": list(state.last.drift),
        },
    }


def _state(row: TrackedObject, *, looks: bool = True) -> ObjectState:
    """Return a row as the state from which re-identification continues. looks: with its appearance."""
    ms, x0, y0, x1, y1 = row.memory["last"]
    across, down = row.memory["drift"]
    return ObjectState(
        id=row.id,
        n=row.n,
        categories=row.memory["categories"],
        colours=row.memory["colours"],
        spans=tuple(Span(start_ms, end_ms) for start_ms, end_ms in row.spans),
        segments=tuple(row.segments),
        tracks=row.tracks,
        observations=row.observations,
        entries=row.entries,
        exits=row.exits,
        confidence=row.confidence,
        weight=row.weight,
        embedding=stored_vector(row.embedding) if looks and row.embedding is not None else None,
        last=Place(ms, (x0, y0, x1, y1), (across, down)),
    )
