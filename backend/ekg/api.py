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
from backend.api.views import TenantView
from backend.ekg import bodies, queries
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
    serialize_many = bodies.event_bodies
    order = ("n",)

    @_listing("listEvents", bodies.EventSerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List events in order of time, with their participants."""
        return self.list(request, video_id)


class ChunksView(VideoPartView):
    rows = queries.chunks
    serialize_many = bodies.chunk_bodies
    order = ("n",)
    query = ChunkQuerySerializer

    @_listing("listChunks", bodies.ChunkSerializer, ChunkQuerySerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List chunks: the descriptions of the 3 s slices that events consist of."""
        return self.list(request, video_id)


class FramesView(VideoPartView):
    rows = queries.frames
    serialize_many = bodies.frame_bodies
    order = ("ms",)

    @_listing("listFrames", bodies.VideoFrameSerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List sampled frames in order of time. Thumbnail URLs are valid for 30 minutes."""
        return self.list(request, video_id)


class TranscriptView(VideoPartView):
    rows = queries.transcript
    serialize_many = bodies.transcript_bodies
    order = ("start_ms", "end_ms")

    @_listing("listTranscript", bodies.TranscriptLineSerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List the lines of the transcript, in order of time."""
        return self.list(request, video_id)


class ObjectsView(VideoPartView):
    rows = queries.objects
    serialize_many = bodies.object_bodies
    order = ("n",)

    @_listing("listObjects", bodies.TrackedObjectSerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List tracked people and things in order of appearance, each once, with the times when it is visible."""
        return self.list(request, video_id)


class TracksView(VideoPartView):
    rows = queries.tracks
    serialize_many = bodies.track_bodies
    order = ("start_ms", "id")
    query = TrackQuerySerializer

    @_listing("listTracks", bodies.TrackSerializer, TrackQuerySerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List tracks: the positions of objects by segment, which re-identification joins to objects."""
        return self.list(request, video_id)


class EntitiesView(VideoPartView):
    rows = queries.entities
    serialize_many = bodies.entity_bodies
    order = ("name", "id")

    @_listing("listEntities", bodies.EntitySerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List entities by name, with the events in which they appear."""
        return self.list(request, video_id)


class RelationsView(VideoPartView):
    rows = queries.relations
    serialize_many = bodies.relation_bodies
    order = ("id",)

    @_listing("listRelations", bodies.RelationSerializer)
    def get(self, request: Request, video_id: str) -> Response:
        """List relations between entities, with the event that shows each."""
        return self.list(request, video_id)


class SummaryView(VideoPartView):
    @extend_schema(operation_id="getSummary", responses=bodies.SummarySerializer, tags=["Event Knowledge Graph"])
    def get(self, request: Request, video_id: str) -> Response:
        """Return a summary of the whole video: consecutive topics, and an overview of them.

        The summary grows with the index. Only the last topic may still change.
        """
        return Response(bodies.summary_body(self.video(video_id)))


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
]
