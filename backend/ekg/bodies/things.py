"""Bodies of who and what is in a video: tracked objects and their tracks, entities and their relations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from rest_framework import serializers

from backend.api.public_ids import PublicIdField
from backend.ekg import queries
from backend.ekg.bodies.common import BoxesField, SpansField, clocks_of, columns
from backend.ekg.models import Entity, Relation, Track, TrackedObject
from backend.library.bodies.recorded import END_AT_HELP, START_AT_HELP, FilmedAtField, LocalTimeField
from backend.library.storage import ObjectStorage
from backend.library.wall_clocks import filmed

SHOWN_APPEARANCES = 20


class LinkedEntitySerializer(serializers.Serializer[Any]):
    """An entity of the graph that is the object."""

    entity_id = PublicIdField("ent")
    name = serializers.CharField()
    confidence = serializers.FloatField(help_text="Certainty that entity and object are one thing, 0 to 1.")


class LinkedObjectSerializer(serializers.Serializer[Any]):
    """A tracked object that is the entity."""

    object_id = PublicIdField("obj")
    n = serializers.IntegerField(help_text="Index of the object in the order of first appearance, from 0.")
    category = serializers.CharField()
    colour = serializers.CharField(allow_blank=True)
    confidence = serializers.FloatField(help_text="Certainty that entity and object are one thing, 0 to 1.")


class TrackedObjectSerializer(serializers.Serializer[Any]):
    """One person or thing over the whole video: its tracks, joined by position, time and appearance."""

    id = PublicIdField("obj")
    n = serializers.IntegerField(help_text="Index in the order of first appearance, from 0.")
    category = serializers.CharField()
    colour = serializers.CharField(allow_blank=True)
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
    start_at = LocalTimeField(allow_null=True, help_text=START_AT_HELP)
    end_at = LocalTimeField(allow_null=True, help_text=END_AT_HELP)
    spans = SpansField(help_text="Lists of `start_ms` and `end_ms` between which the object is visible.")
    segments = serializers.ListField(child=serializers.IntegerField())
    tracks = serializers.IntegerField()
    observations = serializers.IntegerField(help_text="Number of frames in which the object was found.")
    entries = serializers.IntegerField(help_text="How often the object entered over the border of the frame.")
    exits = serializers.IntegerField()
    confidence = serializers.FloatField(
        help_text="Confidence that this is one object, and none of the other listed objects."
    )
    entities = LinkedEntitySerializer(many=True, help_text="Entities that are this object, the surest first.")
    thumbnail_url = serializers.CharField(
        allow_null=True, help_text="A frame from the middle of the longest visible span."
    )


class TrackSerializer(serializers.Serializer[Any]):
    """A tracked object inside one segment."""

    id = PublicIdField("trk")
    object_id = PublicIdField(
        "obj", allow_null=True, help_text="The object of the track; null until the segment is assembled."
    )
    category = serializers.CharField()
    colour = serializers.CharField(allow_blank=True)
    motion = serializers.CharField(allow_blank=True)
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
    start_at = FilmedAtField(of="start", help_text=START_AT_HELP)
    end_at = FilmedAtField(of="end", help_text=END_AT_HELP)
    confidence = serializers.FloatField()
    entered = serializers.BooleanField()
    left = serializers.BooleanField()
    boxes = BoxesField(help_text="Lists of `ms`, `x0`, `y0`, `x1` and `y1`; coordinates are fractions of the frame.")


class AppearanceSerializer(serializers.Serializer[Any]):
    event_id = PublicIdField("evt")
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
    start_at = LocalTimeField(allow_null=True, help_text=START_AT_HELP)
    end_at = LocalTimeField(allow_null=True, help_text=END_AT_HELP)
    role = serializers.CharField()


class EntitySerializer(serializers.Serializer[Any]):
    """A person, place or thing that one or more mentions refer to."""

    id = PublicIdField("ent")
    name = serializers.CharField()
    type = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    aliases = serializers.ListField(child=serializers.CharField())
    mentions = serializers.IntegerField()
    appearances = AppearanceSerializer(many=True, help_text="The first 20 appearances, in order of time.")
    objects = LinkedObjectSerializer(many=True, help_text="Tracked objects that are this entity, the surest first.")


class RelationEndSerializer(serializers.Serializer[Any]):
    entity_id = PublicIdField("ent")
    name = serializers.CharField()


class RelationSerializer(serializers.Serializer[Any]):
    """A source entity, a predicate and a target entity, as one event shows them."""

    id = PublicIdField("rel")
    source = RelationEndSerializer()  # type: ignore[assignment]  # a field, which the metaclass takes out of the class
    predicate = serializers.CharField()
    target = RelationEndSerializer()
    description = serializers.CharField(allow_blank=True)
    event_id = PublicIdField("evt")
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
    start_at = LocalTimeField(allow_null=True, help_text=START_AT_HELP)
    end_at = LocalTimeField(allow_null=True, help_text=END_AT_HELP)
    confidence = serializers.FloatField()


def object_bodies(rows: Sequence[TrackedObject]) -> list[Any]:
    storage, clocks = ObjectStorage(), clocks_of(row.video_id for row in rows)
    thumbnails = queries.thumbnails_at({row.id: (row.video_id, row.index_version, _middle(row)) for row in rows})
    names = (
        "id", "n", "category", "colour", "start_ms", "end_ms", "spans", "segments", "tracks", "observations",
        "entries", "exits", "confidence",
    )  # fmt: skip
    entities: defaultdict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for link in queries.links_between(object_ids=[row.id for row in rows]):
        named = {"entity_id": link.entity_id, "name": link.entity.name, "confidence": link.confidence}
        entities[link.object_id].append(named)
    bodies = []
    for row in rows:
        key = thumbnails.get(row.id)
        url = storage.presign_get(key) if key else None
        times = filmed(clocks.get(row.video_id), row.start_ms, row.end_ms)
        bodies.append({**columns(row, *names), **times, "entities": entities[row.id], "thumbnail_url": url})
    return list(TrackedObjectSerializer(bodies, many=True).data)


def _middle(row: TrackedObject) -> int:
    """Return the middle of the longest span in which the object is visible."""
    start_ms, end_ms = max(row.spans, key=lambda span: span[1] - span[0], default=(row.start_ms, row.end_ms))
    return int((start_ms + end_ms) // 2)


def track_bodies(rows: Sequence[Track]) -> list[Any]:
    return list(TrackSerializer(rows, many=True).data)


def entity_bodies(rows: Sequence[Entity]) -> list[Any]:
    met = queries.appearances([row.id for row in rows], limit=SHOWN_APPEARANCES)
    clocks = clocks_of(row.video_id for row in rows)
    objects: defaultdict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for link in queries.links_between(entity_ids=[row.id for row in rows]):
        seen = {**columns(link.object, "n", "category", "colour"), "confidence": link.confidence}
        objects[link.entity_id].append({"object_id": link.object_id, **seen})
    bodies = [
        {
            **columns(row, "id", "name", "type", "description", "aliases"),
            "mentions": met[row.id].total,
            "appearances": [
                {
                    "event_id": mention.event_id,
                    "start_ms": mention.event.start_ms,
                    "end_ms": mention.event.end_ms,
                    **filmed(clocks.get(row.video_id), mention.event.start_ms, mention.event.end_ms),
                    "role": mention.role,
                }
                for mention in met[row.id].mentions
            ],
            "objects": objects[row.id],
        }
        for row in rows
    ]
    return list(EntitySerializer(bodies, many=True).data)


def relation_bodies(rows: Sequence[Relation]) -> list[Any]:
    clocks = clocks_of(row.video_id for row in rows)
    bodies = [
        {
            **columns(row, "id", "predicate", "description", "event_id", "confidence"),
            "source": {"entity_id": row.source_id, "name": row.source.name},
            "target": {"entity_id": row.target_id, "name": row.target.name},
            "start_ms": row.event.start_ms,
            "end_ms": row.event.end_ms,
            **filmed(clocks.get(row.video_id), row.event.start_ms, row.event.end_ms),
        }
        for row in rows
    ]
    return list(RelationSerializer(bodies, many=True).data)
