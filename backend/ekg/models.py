"""The relational rows of the Event Knowledge Graph: all text and all vectors (topology: backend.ekg.graph_store).

Every row belongs to one index version of one video, so that a new version can be built while the old one is read.
Vectors are halfvec without a fixed width, so each has the name of its model in another column.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from pgvector.django import HalfVectorField

from backend.library.models import Video
from backend.tenancy.models import TenantRow


class IndexRow(TenantRow):
    video = models.ForeignKey(Video, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    index_version = models.PositiveIntegerField()

    class Meta(TenantRow.Meta):
        abstract = True


class Event(IndexRow):
    n = models.PositiveIntegerField()
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    first_chunk = models.PositiveIntegerField()
    end_chunk = models.PositiveIntegerField()
    summary = models.TextField()
    # Tokens of summary, writing and speech in canonical form (engine.retrieval.words), to find exact phrases.
    searched = models.TextField(default="", blank=True)
    embedding = HalfVectorField()
    embedding_model = models.CharField(max_length=100)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "video", "index_version", "n"], name="event_video_version_n")
        ]


class Posting(IndexRow):
    """The events of one version that have one term (engine.retrieval.word_terms), in order, with the term's impact."""

    term = models.CharField(max_length=64)
    events = ArrayField(models.PositiveIntegerField())
    impacts = ArrayField(models.PositiveSmallIntegerField())

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "term", "video", "index_version"], name="posting_term_video_version"
            )
        ]
        indexes = [models.Index(fields=["tenant", "video", "index_version"], name="posting_tenant_video")]


class Chunk(IndexRow):
    """A described 3 s slice; event is null until the merge rule has assigned the chunk to an event."""

    n = models.PositiveIntegerField()
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    segment_n = models.PositiveIntegerField()
    event = models.ForeignKey(
        Event, null=True, on_delete=models.SET_NULL, db_constraint=False, db_index=False, related_name="+"
    )
    description = models.TextField(null=True)
    gap = models.CharField(max_length=64, null=True)
    facts = models.JSONField(default=dict)
    on_screen_text = models.JSONField(default=list)
    inherited = models.BooleanField(default=False)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "video", "index_version", "n"], name="chunk_video_version_n"),
            models.CheckConstraint(
                name="chunk_described_or_gap",
                condition=models.Q(description__isnull=True, gap__isnull=False)
                | models.Q(description__isnull=False, gap__isnull=True),
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "event"], name="chunk_tenant_event"),
            models.Index(
                fields=["tenant", "video", "index_version"], name="chunk_gaps", condition=models.Q(gap__isnull=False)
            ),
        ]


class Frame(IndexRow):
    """A sampled picture with its time and thumbnail; event is null until its chunk has an event."""

    ms = models.BigIntegerField()
    event = models.ForeignKey(
        Event, null=True, on_delete=models.SET_NULL, db_constraint=False, db_index=False, related_name="+"
    )
    thumbnail_key = models.CharField(max_length=255)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "video", "index_version", "ms"], name="frame_video_version_ms")
        ]
        indexes = [models.Index(fields=["tenant", "event", "ms"], name="frame_tenant_event")]


class FrameVector(IndexRow):
    """The embedding of a frame, with the frame's id and time.

    A table of its own, because it is most of the database and only searches read it: no other table refers to it, so it
    can move.
    """

    ms = models.BigIntegerField()
    embedding = HalfVectorField()
    embedding_model = models.CharField(max_length=100)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "video", "index_version", "ms"], name="framevector_video_version_ms"
            )
        ]


class TranscriptLine(IndexRow):
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    text = models.TextField()
    # ISO 639-1; empty where it is not certain.
    language = models.CharField(max_length=8, default="", blank=True)
    # Number of the audio track, from 1.
    track = models.PositiveSmallIntegerField(default=1)
    words = models.JSONField(default=list)
    # Null for lines of indexes that are older than the embedding of lines.
    embedding = HalfVectorField(null=True)
    embedding_model = models.CharField(max_length=100, default="", blank=True)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "video", "index_version", "start_ms", "end_ms", "track"],
                name="transcript_video_version_time",
            )
        ]


class TrackedObject(IndexRow):
    """One tracked thing over all segments: its tracks joined by re-identification.

    n: running number in order of first appearance. spans: [[start_ms, end_ms], …] in which it is visible, merged.
    embedding: mean appearance of its tracks, weight: number of these tracks. segments: the segments of its tracks.
    confidence: how certain it is that this is one thing and not another known object. memory: the state from which
    re-identification continues, {"categories", "colours": observations per word, "last": [ms, x0, y0, x1, y1],
    "drift": [across, down] per second}.
    """

    n = models.PositiveIntegerField()
    category = models.CharField(max_length=64)
    colour = models.CharField(max_length=32, default="", blank=True)
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    spans = models.JSONField(default=list)
    segments = models.JSONField(default=list)
    tracks = models.PositiveIntegerField(default=1)
    observations = models.PositiveIntegerField(default=0)
    entries = models.PositiveIntegerField(default=0)
    exits = models.PositiveIntegerField(default=0)
    confidence = models.FloatField(default=1.0)
    weight = models.PositiveIntegerField(default=0)
    embedding = HalfVectorField(null=True)
    embedding_model = models.CharField(max_length=100, default="", blank=True)
    memory = models.JSONField(default=dict)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "video", "index_version", "n"], name="object_video_version_n")
        ]


class Track(IndexRow):
    """One tracked object inside one segment, as measured. object is null until its segment is assembled.

    crop_ms, crop_embedding, crop_model: when its largest picture was taken, and the picture's embedding; null without.
    """

    segment_n = models.PositiveIntegerField()
    track_no = models.PositiveIntegerField()
    category = models.CharField(max_length=64)
    colour = models.CharField(max_length=32, default="", blank=True)
    motion = models.CharField(max_length=100, default="", blank=True)
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    confidence = models.FloatField()
    entered = models.BooleanField(default=False)
    left = models.BooleanField(default=False)
    boxes = models.JSONField(default=list)
    appearance = HalfVectorField(null=True)
    crop_ms = models.BigIntegerField(null=True)
    crop_embedding = HalfVectorField(null=True)
    crop_model = models.CharField(max_length=100, default="", blank=True)
    object = models.ForeignKey(
        TrackedObject, null=True, on_delete=models.SET_NULL, db_constraint=False, db_index=False, related_name="+"
    )

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "video", "index_version", "segment_n", "track_no"], name="track_video_segment_no"
            )
        ]
        indexes = [models.Index(fields=["tenant", "object"], name="track_tenant_object")]


class Entity(IndexRow):
    name = models.CharField(max_length=200)
    type = models.CharField(max_length=64)
    description = models.TextField(default="", blank=True)
    aliases = models.JSONField(default=list)
    weight = models.PositiveIntegerField(default=1)
    centroid = HalfVectorField()
    embedding_model = models.CharField(max_length=100)

    class Meta(IndexRow.Meta):
        indexes = [models.Index(fields=["tenant", "video", "index_version"], name="entity_tenant_video")]


class Mention(IndexRow):
    """An entity's participation in one event, with its role there."""

    entity = models.ForeignKey(
        Entity, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    event = models.ForeignKey(Event, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    name = models.CharField(max_length=200)
    type = models.CharField(max_length=64)
    description = models.TextField(default="", blank=True)
    role = models.CharField(max_length=200, default="participant")
    confidence = models.FloatField(default=1.0)
    frame_ms = models.JSONField(default=list)
    embedding = HalfVectorField()
    embedding_model = models.CharField(max_length=100)

    class Meta(IndexRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "event", "entity"], name="mention_event_entity")]
        indexes = [
            models.Index(fields=["tenant", "entity"], name="mention_tenant_entity"),
            models.Index(fields=["tenant", "video", "index_version"], name="mention_tenant_video"),
        ]


class EntityObject(IndexRow):
    """An entity is a tracked object, with this certainty (engine.indexing.object_links)."""

    entity = models.ForeignKey(
        Entity, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    object = models.ForeignKey(
        TrackedObject, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    confidence = models.FloatField()

    class Meta(IndexRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "entity", "object"], name="entity_object_once")]
        indexes = [
            models.Index(fields=["tenant", "object"], name="entityobject_tenant_object"),
            models.Index(fields=["tenant", "video", "index_version"], name="entityobject_tenant_video"),
        ]


class Relation(IndexRow):
    source = models.ForeignKey(
        Entity, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    target = models.ForeignKey(
        Entity, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    event = models.ForeignKey(Event, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    predicate = models.CharField(max_length=100)
    description = models.TextField(default="", blank=True)
    confidence = models.FloatField(default=1.0)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "event", "source", "target", "predicate"], name="relation_event_ends_predicate"
            )
        ]
        indexes = [models.Index(fields=["tenant", "video", "index_version"], name="relation_tenant_video")]


class Topic(IndexRow):
    """A span of the video about one thing: consecutive events summarised together. Topics are contiguous in time.

    people, places: names as in the events. frame_ms: times of frames that show the topic. embedding: of title and
    summary; null for topics of indexes that are older than it.
    """

    n = models.PositiveIntegerField()
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    first_event = models.PositiveIntegerField()
    end_event = models.PositiveIntegerField()
    title = models.CharField(max_length=200)
    summary = models.TextField()
    people = models.JSONField(default=list)
    places = models.JSONField(default=list)
    frame_ms = models.JSONField(default=list)
    embedding = HalfVectorField(null=True)
    embedding_model = models.CharField(max_length=100, default="", blank=True)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "video", "index_version", "n"], name="topic_video_version_n")
        ]


class Overview(IndexRow):
    """The global summary of one index version, written from its topics; until_ms: the time it covers."""

    text = models.TextField()
    people = models.JSONField(default=list)
    places = models.JSONField(default=list)
    until_ms = models.BigIntegerField(default=0)
    model = models.CharField(max_length=100, default="", blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "video", "index_version"], name="overview_video_version")
        ]


class EventVerdicts(IndexRow):
    """What one call of a scan judged. key: digest of statement, model and prompt. true, false: ids of the events of
    which the statement is true, and of which it is not."""

    key = models.CharField(max_length=64)
    true = models.JSONField(default=list)
    false = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(IndexRow.Meta):
        indexes = [models.Index(fields=["tenant", "key", "video"], name="verdicts_tenant_key")]


class SketchBlock(IndexRow):
    """Sketches of up to BLOCK_ITEMS items of one view, for searches in large scopes (retrieval.sketches).

    view: the view whose items are sketched. n: running number of the block in its view. items: their number.
    centre: of the vectors, in half precision. packed: one item after the other, only ever appended to.
    """

    view = models.CharField(max_length=16)
    n = models.PositiveIntegerField()
    items = models.PositiveIntegerField(default=0)
    centre = models.BinaryField()
    packed = models.BinaryField(default=b"")
    embedding_model = models.CharField(max_length=100)

    class Meta(IndexRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "video", "index_version", "view", "n"], name="sketch_video_version_view_n"
            )
        ]
