"""The Event Knowledge Graph on the wire."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from rest_framework import serializers

from backend.api.bodies import ResourceErrorSerializer
from backend.api.public_ids import PublicIdField
from backend.ekg import queries
from backend.ekg.models import Chunk, Entity, Event, Frame, Relation, Track, TrackedObject, TranscriptLine
from backend.library.bodies.recorded import END_AT_HELP, START_AT_HELP, LocalTimeField
from backend.library.models import Video, VideoStatus
from backend.library.storage import ObjectStorage
from backend.library.wall_clocks import filmed, fitted_clocks


class ParticipantSerializer(serializers.Serializer[Any]):
    entity_id = PublicIdField("ent")
    name = serializers.CharField()
    type = serializers.CharField()
    role = serializers.CharField()
    confidence = serializers.FloatField()


class EventSerializer(serializers.Serializer[Any]):
    """One or more adjacent chunks about the same thing."""

    id = PublicIdField("evt")
    n = serializers.IntegerField(help_text="Index of the event in order of time, from 0.")
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
    start_at = LocalTimeField(allow_null=True, help_text=START_AT_HELP)
    end_at = LocalTimeField(allow_null=True, help_text=END_AT_HELP)
    summary = serializers.CharField()
    first_chunk = serializers.IntegerField()
    end_chunk = serializers.IntegerField(help_text="Index after the last chunk.")
    participants = ParticipantSerializer(many=True)
    thumbnail_url = serializers.CharField(allow_null=True)


class ChunkSerializer(serializers.Serializer[Any]):
    """A uniform slice of 3 s: either a description, or a gap with the code of its reason."""

    n = serializers.IntegerField()
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
    event_id = PublicIdField("evt", allow_null=True)
    description = serializers.CharField(allow_null=True)
    gap = serializers.CharField(allow_null=True)
    on_screen_text = serializers.ListField(child=serializers.CharField())
    inherited = serializers.BooleanField(
        help_text="Whether nothing changed since an earlier chunk, whose description this chunk keeps."
    )


class VideoFrameSerializer(serializers.Serializer[Any]):
    id = PublicIdField("frm")
    ms = serializers.IntegerField()
    event_id = PublicIdField("evt", allow_null=True)
    thumbnail_url = serializers.CharField(allow_null=True)


class TranscriptLineSerializer(serializers.Serializer[Any]):
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
    text = serializers.CharField()
    language = serializers.CharField(
        allow_blank=True, help_text="Language that is spoken, by its ISO 639-1 code; empty where it is not certain."
    )
    words = serializers.JSONField(help_text="Lists of `start_ms`, `end_ms` and the word.")


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
    spans = serializers.JSONField(help_text="Lists of `start_ms` and `end_ms` between which the object is visible.")
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
    confidence = serializers.FloatField()
    entered = serializers.BooleanField()
    left = serializers.BooleanField()
    boxes = serializers.JSONField(
        help_text="Lists of `ms`, `x0`, `y0`, `x1` and `y1`; coordinates are fractions of the frame."
    )


class AppearanceSerializer(serializers.Serializer[Any]):
    event_id = PublicIdField("evt")
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
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
    confidence = serializers.FloatField()


class TopicFrameSerializer(serializers.Serializer[Any]):
    ms = serializers.IntegerField()
    thumbnail_url = serializers.CharField(allow_null=True)


class TopicSerializer(serializers.Serializer[Any]):
    """A part of the video about one subject. It begins where the previous topic ends."""

    n = serializers.IntegerField()
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
    start_at = LocalTimeField(allow_null=True, help_text=START_AT_HELP)
    end_at = LocalTimeField(allow_null=True, help_text=END_AT_HELP)
    title = serializers.CharField()
    summary = serializers.CharField()
    people = serializers.ListField(child=serializers.CharField(), help_text="Names as in the events.")
    places = serializers.ListField(child=serializers.CharField(), help_text="Names as in the events.")
    frames = TopicFrameSerializer(many=True)


class SummarySerializer(serializers.Serializer[Any]):
    video_id = PublicIdField("vid")
    index_version = serializers.IntegerField()
    text = serializers.CharField(allow_blank=True, help_text="Empty until the first topic is summarised.")
    people = serializers.ListField(child=serializers.CharField(), help_text="Most important first.")
    places = serializers.ListField(child=serializers.CharField(), help_text="Most important first.")
    until_ms = serializers.IntegerField(help_text="End of the part that the text covers.")
    complete = serializers.BooleanField(help_text="Whether the text covers a finished index to its end.")
    error = ResourceErrorSerializer(
        allow_null=True, help_text="Why the summary is incomplete, if it has failed for good."
    )
    topics = TopicSerializer(many=True)


SHOWN_APPEARANCES = 20


def _picture(storage: ObjectStorage, key: str) -> str | None:
    """Return the URL of a picture; None if there is none, or if the tenant's retention removed it."""
    return storage.presign_get(key) if key else None


def event_bodies(rows: Sequence[Event]) -> list[Any]:
    ids = [row.id for row in rows]
    participants, thumbnails = queries.participations(ids), queries.first_frames(ids)
    clocks = fitted_clocks(Video.objects.filter(id__in={row.video_id for row in rows}))
    storage = ObjectStorage()
    bodies = []
    for row in rows:
        frame = thumbnails.get(row.id)
        bodies.append(
            {
                **_columns(row, "id", "n", "start_ms", "end_ms", "summary", "first_chunk", "end_chunk"),
                **filmed(clocks.get(row.video_id), row.start_ms, row.end_ms),
                "participants": participants[row.id],
                "thumbnail_url": _picture(storage, frame.thumbnail_key if frame else ""),
            }
        )
    return list(EventSerializer(bodies, many=True).data)


def chunk_bodies(rows: Sequence[Chunk]) -> list[Any]:
    return list(ChunkSerializer(rows, many=True).data)


def frame_bodies(rows: Sequence[Frame]) -> list[Any]:
    storage = ObjectStorage()
    bodies = [
        {**_columns(row, "id", "ms", "event_id"), "thumbnail_url": _picture(storage, row.thumbnail_key)} for row in rows
    ]
    return list(VideoFrameSerializer(bodies, many=True).data)


def transcript_bodies(rows: Sequence[TranscriptLine]) -> list[Any]:
    return list(TranscriptLineSerializer(rows, many=True).data)


def object_bodies(rows: Sequence[TrackedObject]) -> list[Any]:
    storage = ObjectStorage()
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
        bodies.append({**_columns(row, *names), "entities": entities[row.id], "thumbnail_url": url})
    return list(TrackedObjectSerializer(bodies, many=True).data)


def _middle(row: TrackedObject) -> int:
    """Return the middle of the longest span in which the object is visible."""
    start_ms, end_ms = max(row.spans, key=lambda span: span[1] - span[0], default=(row.start_ms, row.end_ms))
    return int((start_ms + end_ms) // 2)


def track_bodies(rows: Sequence[Track]) -> list[Any]:
    return list(TrackSerializer(rows, many=True).data)


def entity_bodies(rows: Sequence[Entity]) -> list[Any]:
    met = queries.appearances([row.id for row in rows], limit=SHOWN_APPEARANCES)
    objects: defaultdict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for link in queries.links_between(entity_ids=[row.id for row in rows]):
        seen = {**_columns(link.object, "n", "category", "colour"), "confidence": link.confidence}
        objects[link.entity_id].append({"object_id": link.object_id, **seen})
    bodies = [
        {
            **_columns(row, "id", "name", "type", "description", "aliases"),
            "mentions": met[row.id].total,
            "appearances": [
                {
                    "event_id": mention.event_id,
                    "start_ms": mention.event.start_ms,
                    "end_ms": mention.event.end_ms,
                    "role": mention.role,
                }
                for mention in met[row.id].mentions
            ],
            "objects": objects[row.id],
        }
        for row in rows
    ]
    return list(EntitySerializer(bodies, many=True).data)


def summary_body(video: Video) -> Any:
    summary = queries.summary(video)
    overview, storage = summary.overview, ObjectStorage()
    until_ms = overview.until_ms if overview else 0
    clock = fitted_clocks([video])[video.id]
    topics = [
        {
            **_columns(row, "n", "start_ms", "end_ms", "title", "summary", "people", "places"),
            **filmed(clock, row.start_ms, row.end_ms),
            "frames": [
                {"ms": ms, "thumbnail_url": _picture(storage, summary.frames[ms].thumbnail_key)}
                for ms in row.frame_ms
                if ms in summary.frames
            ],
        }
        for row in summary.topics
    ]
    body = {
        "video_id": video.id,
        "index_version": video.active_index_version,
        "text": overview.text if overview else "",
        "people": overview.people if overview else [],
        "places": overview.places if overview else [],
        "until_ms": until_ms,
        "complete": video.status == VideoStatus.READY and 0 < video.indexed_until_ms <= until_ms,
        "error": {"code": summary.error[0], "message": summary.error[1]} if summary.error else None,
        "topics": topics,
    }
    return SummarySerializer(body).data


def relation_bodies(rows: Sequence[Relation]) -> list[Any]:
    bodies = [
        {
            **_columns(row, "id", "predicate", "description", "event_id", "confidence"),
            "source": {"entity_id": row.source_id, "name": row.source.name},
            "target": {"entity_id": row.target_id, "name": row.target.name},
            "start_ms": row.event.start_ms,
            "end_ms": row.event.end_ms,
        }
        for row in rows
    ]
    return list(RelationSerializer(bodies, many=True).data)


def _columns(row: object, *names: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
