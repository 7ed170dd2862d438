"""/v1/videos/{id}/…: the contents of the index, readable while the video is still being indexed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from django.db.models import QuerySet
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import TimeSpanSerializer, page_of, parsed_query
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.public_ids import PublicIdField, decode
from backend.api.views import TenantView, count_free
from backend.ekg import queries
from backend.ekg.bodies import moments, summaries, things
from backend.ekg.queries import Narrowing
from backend.library.models import Video, VideoStatus
from backend.library.queries import videos

View = TypeVar("View", bound=Callable[..., Response])


class PartQuerySerializer(TimeSpanSerializer):
    q = serializers.CharField(
        max_length=200, required=False, help_text="Words that the text contains, in upper or lower case."
    )


class ChunkQuerySerializer(PartQuerySerializer):
    gap = serializers.BooleanField(
        required=False, help_text="`true`: only chunks that could not be described; `false`: only the others."
    )


class TrackQuerySerializer(PartQuerySerializer):
    object_id = PublicIdField("obj", required=False)


class VideoPartView(TenantView):
    """Base of the lists under one video."""

    scopes = {"GET": "videos:read"}

    rows: ClassVar[Callable[[Video, Narrowing], QuerySet[Any]]]
    serialize_many: ClassVar[Callable[[list[Any]], Sequence[Any]]]
    order: ClassVar[tuple[str, ...]]
    query: ClassVar[type[PartQuerySerializer]] = PartQuerySerializer

    def video(self, video_id: str) -> Video:
        # A video that is being deleted returns the 404 of a deleted video.
        return self.get_or_404(videos().exclude(status=VideoStatus.DELETING), decode("vid", video_id))

    def list(self, request: Request, video_id: str) -> Response:
        kind = type(self)
        if "q" in request.query_params:
            count_free(self.principal)
        rows = kind.rows(self.video(video_id), Narrowing(**parsed_query(self.query, request)))
        return page(request, rows, serialize_many=kind.serialize_many, order=self.order)


def _listing(
    operation: str, body: type[serializers.Serializer[Any]], query: type[PartQuerySerializer] = PartQuerySerializer
) -> Callable[[View], View]:
    name = body.__name__.removesuffix("Serializer")
    return extend_schema(
        operation_id=operation,
        parameters=[query, *PAGE_PARAMETERS],
        responses=page_of(f"{name}Page", body),
        tags=["Event Knowledge Graph"],
    )


class EventsView(VideoPartView):
    rows = queries.events
    serialize_many = moments.event_bodies
    order = ("n",)

    @_listing("listEvents", moments.EventSerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List events in order of time, with their participants."""
        return self.list(request, video_id)


class ChunksView(VideoPartView):
    rows = queries.chunks
    serialize_many = moments.chunk_bodies
    order = ("n",)
    query = ChunkQuerySerializer

    @_listing("listChunks", moments.ChunkSerializer, ChunkQuerySerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List chunks: the descriptions of the 3 s slices that events consist of."""
        return self.list(request, video_id)


class FramesView(VideoPartView):
    rows = queries.frames
    serialize_many = moments.frame_bodies
    order = ("ms",)

    @_listing("listFrames", moments.VideoFrameSerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List sampled frames in order of time. Thumbnail URLs are valid for 30 minutes."""
        return self.list(request, video_id)


class TranscriptView(VideoPartView):
    rows = queries.transcript
    serialize_many = moments.transcript_bodies
    order = ("start_ms", "end_ms")

    @_listing("listTranscript", moments.TranscriptLineSerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List the lines of the transcript, in order of time."""
        return self.list(request, video_id)


class ObjectsView(VideoPartView):
    rows = queries.objects
    serialize_many = things.object_bodies
    order = ("n",)

    @_listing("listObjects", things.TrackedObjectSerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List tracked people and things in order of appearance, each once, with the times when it is visible."""
        return self.list(request, video_id)


class TracksView(VideoPartView):
    rows = queries.tracks
    serialize_many = things.track_bodies
    order = ("start_ms", "id")
    query = TrackQuerySerializer

    @_listing("listTracks", things.TrackSerializer, TrackQuerySerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List tracks: the positions of objects by segment, which re-identification joins to objects."""
        return self.list(request, video_id)


class EntitiesView(VideoPartView):
    rows = queries.entities
    serialize_many = things.entity_bodies
    order = ("name", "id")

    @_listing("listEntities", things.EntitySerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List entities by name, with the events in which they appear."""
        return self.list(request, video_id)


class RelationsView(VideoPartView):
    rows = queries.relations
    serialize_many = things.relation_bodies
    order = ("id",)

    @_listing("listRelations", things.RelationSerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List relations between entities, with the event that shows each."""
        return self.list(request, video_id)


class SummaryView(VideoPartView):
    @extend_schema(operation_id="getSummary", responses=summaries.SummarySerializer, tags=["Event Knowledge Graph"])
    def get(self, request: Request, video_id: str) -> Response:
        """Return a summary of the whole video: consecutive topics, and an overview of them.

        The summary grows with the index. Only the last topic may still change.
        """
        return Response(summaries.summary_body(self.video(video_id)))


class VideoPartItemView(VideoPartView):
    """Base of the views of one row under a video. prefix: of its public id."""

    prefix: ClassVar[str]

    def one(self, video_id: str, part_id: str) -> Response:
        kind = type(self)
        row = self.get_or_404(kind.rows(self.video(video_id), Narrowing()), decode(self.prefix, part_id))
        return Response(kind.serialize_many([row])[0])


def _reading(operation: str, body: type[serializers.Serializer[Any]]) -> Callable[[View], View]:
    return extend_schema(operation_id=operation, responses=body, tags=["Event Knowledge Graph"])


class EventView(VideoPartItemView):
    rows, serialize_many, prefix = queries.events, moments.event_bodies, "evt"

    @_reading("getEvent", moments.EventSerializer)
    def get(self, request: Request, video_id: str, event_id: str) -> Response:
        """Return one event, as an answer or a search cites it. An index that was built again has events of its own."""
        return self.one(video_id, event_id)


class ChunkView(VideoPartItemView):
    rows, serialize_many, prefix = queries.chunks, moments.chunk_bodies, "chk"

    @_reading("getChunk", moments.ChunkSerializer)
    def get(self, request: Request, video_id: str, chunk_id: str) -> Response:
        """Return one chunk: the description of a slice of 3 s."""
        return self.one(video_id, chunk_id)


class TranscriptLineView(VideoPartItemView):
    rows, serialize_many, prefix = queries.transcript, moments.transcript_bodies, "trn"

    @_reading("getTranscriptLine", moments.TranscriptLineSerializer)
    def get(self, request: Request, video_id: str, line_id: str) -> Response:
        """Return one line of the transcript."""
        return self.one(video_id, line_id)


class FrameView(VideoPartItemView):
    rows, serialize_many, prefix = queries.frames, moments.frame_bodies, "frm"

    @_reading("getFrame", moments.VideoFrameSerializer)
    def get(self, request: Request, video_id: str, frame_id: str) -> Response:
        """Return one sampled frame. The URL of its thumbnail is valid for 30 minutes."""
        return self.one(video_id, frame_id)


class ObjectView(VideoPartItemView):
    rows, serialize_many, prefix = queries.objects, things.object_bodies, "obj"

    @_reading("getObject", things.TrackedObjectSerializer)
    def get(self, request: Request, video_id: str, object_id: str) -> Response:
        """Return one tracked person or thing, with the times when it is visible."""
        return self.one(video_id, object_id)


class TrackView(VideoPartItemView):
    rows, serialize_many, prefix = queries.tracks, things.track_bodies, "trk"

    @_reading("getTrack", things.TrackSerializer)
    def get(self, request: Request, video_id: str, track_id: str) -> Response:
        """Return one track: the positions of an object in one segment."""
        return self.one(video_id, track_id)


class EntityView(VideoPartItemView):
    rows, serialize_many, prefix = queries.entities, things.entity_bodies, "ent"

    @_reading("getEntity", things.EntitySerializer)
    def get(self, request: Request, video_id: str, entity_id: str) -> Response:
        """Return one entity, with the events in which it appears."""
        return self.one(video_id, entity_id)


class RelationView(VideoPartItemView):
    rows, serialize_many, prefix = queries.relations, things.relation_bodies, "rel"

    @_reading("getRelation", things.RelationSerializer)
    def get(self, request: Request, video_id: str, relation_id: str) -> Response:
        """Return one relation between two entities, with the event that shows it."""
        return self.one(video_id, relation_id)


routes = [
    path("videos/<str:video_id>/events", EventsView.as_view()),
    path("videos/<str:video_id>/chunks", ChunksView.as_view()),
    path("videos/<str:video_id>/frames", FramesView.as_view()),
    path("videos/<str:video_id>/transcript", TranscriptView.as_view()),
    path("videos/<str:video_id>/objects", ObjectsView.as_view()),
    path("videos/<str:video_id>/tracks", TracksView.as_view()),
    path("videos/<str:video_id>/entities", EntitiesView.as_view()),
    path("videos/<str:video_id>/relations", RelationsView.as_view()),
    path("videos/<str:video_id>/summary", SummaryView.as_view()),
    path("videos/<str:video_id>/events/<str:event_id>", EventView.as_view()),
    path("videos/<str:video_id>/chunks/<str:chunk_id>", ChunkView.as_view()),
    path("videos/<str:video_id>/transcript/<str:line_id>", TranscriptLineView.as_view()),
    path("videos/<str:video_id>/frames/<str:frame_id>", FrameView.as_view()),
    path("videos/<str:video_id>/objects/<str:object_id>", ObjectView.as_view()),
    path("videos/<str:video_id>/tracks/<str:track_id>", TrackView.as_view()),
    path("videos/<str:video_id>/entities/<str:entity_id>", EntityView.as_view()),
    path("videos/<str:video_id>/relations/<str:relation_id>", RelationView.as_view()),
]
