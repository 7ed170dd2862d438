"""/v1/videos/{id}/…: what the index knows, readable while the video is still being indexed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from django.db.models import QuerySet
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import MAX_TIME_MS, Body, page_of, parsed_query
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.public_ids import PublicIdField, decode
from backend.api.views import TenantView
from backend.ekg import bodies, queries
from backend.ekg.queries import Narrowing
from backend.library.models import Video, VideoStatus
from backend.library.queries import videos

View = TypeVar("View", bound=Callable[..., Response])


class PartQuery(Body):
    start_ms = serializers.IntegerField(min_value=0, max_value=MAX_TIME_MS, required=False)
    end_ms = serializers.IntegerField(min_value=1, max_value=MAX_TIME_MS, required=False)
    q = serializers.CharField(max_length=200, required=False, help_text="words that the text contains, in any case")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("start_ms", 0) >= attrs.get("end_ms", MAX_TIME_MS + 1):
            raise serializers.ValidationError({"end_ms": "end_ms is after start_ms."}, code="out_of_order")
        return attrs


class ChunkQuery(PartQuery):
    gap = serializers.BooleanField(required=False, help_text="true: only what could not be described; false: the rest")


class TrackQuery(PartQuery):
    object_id = PublicIdField("obj", required=False)


class VideoPartView(TenantView):
    """Base of the lists under one video."""

    scopes = {"GET": "videos:read"}

    rows: ClassVar[Callable[[Video, Narrowing], QuerySet[Any]]]
    serialize_many: ClassVar[Callable[[list[Any]], Sequence[Any]]]
    order: ClassVar[tuple[str, ...]]
    query: ClassVar[type[PartQuery]] = PartQuery

    def video(self, video_id: str) -> Video:
        # A video on its way out answers like one that is gone.
        return self.get_or_404(videos().exclude(status=VideoStatus.DELETING), decode("vid", video_id))

    def list(self, request: Request, video_id: str) -> Response:
        kind = type(self)
        rows = kind.rows(self.video(video_id), Narrowing(**parsed_query(self.query, request)))
        return page(request, rows, serialize_many=kind.serialize_many, order=self.order)


def _listing(
    operation: str, body: type[serializers.Serializer[Any]], query: type[PartQuery] = PartQuery
) -> Callable[[View], View]:
    name = body.__name__.removesuffix("Body")
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

    @_listing("listEvents", bodies.EventBody)
    def get(self, request: Request, video_id: str) -> Response:
        """Events in order of time, with who takes part in them."""
        return self.list(request, video_id)


class ChunksView(VideoPartView):
    rows = queries.chunks
    serialize_many = bodies.chunk_bodies
    order = ("n",)
    query = ChunkQuery

    @_listing("listChunks", bodies.ChunkBody, ChunkQuery)
    def get(self, request: Request, video_id: str) -> Response:
        """The descriptions of the 3 s slices that events are made of."""
        return self.list(request, video_id)


class FramesView(VideoPartView):
    rows = queries.frames
    serialize_many = bodies.frame_bodies
    order = ("ms",)

    @_listing("listFrames", bodies.FrameBody)
    def get(self, request: Request, video_id: str) -> Response:
        """Sampled pictures in order of time; thumbnail URLs are valid for an hour."""
        return self.list(request, video_id)


class TranscriptView(VideoPartView):
    rows = queries.transcript
    serialize_many = bodies.transcript_bodies
    order = ("start_ms", "end_ms")

    @_listing("listTranscript", bodies.TranscriptLineBody)
    def get(self, request: Request, video_id: str) -> Response:
        """What is said, in order of time."""
        return self.list(request, video_id)


class ObjectsView(VideoPartView):
    rows = queries.objects
    serialize_many = bodies.object_bodies
    order = ("n",)

    @_listing("listObjects", bodies.ObjectBody)
    def get(self, request: Request, video_id: str) -> Response:
        """People and things that were followed, each once, with when they are seen; in order of appearance."""
        return self.list(request, video_id)


class TracksView(VideoPartView):
    rows = queries.tracks
    serialize_many = bodies.track_bodies
    order = ("start_ms", "id")
    query = TrackQuery

    @_listing("listTracks", bodies.TrackBody, TrackQuery)
    def get(self, request: Request, video_id: str) -> Response:
        """Where objects were, by segment: what re-identification joins to objects."""
        return self.list(request, video_id)


class EntitiesView(VideoPartView):
    rows = queries.entities
    serialize_many = bodies.entity_bodies
    order = ("name", "id")

    @_listing("listEntities", bodies.EntityBody)
    def get(self, request: Request, video_id: str) -> Response:
        """Entities by name, with the events they appear in."""
        return self.list(request, video_id)


class RelationsView(VideoPartView):
    rows = queries.relations
    serialize_many = bodies.relation_bodies
    order = ("id",)

    @_listing("listRelations", bodies.RelationBody)
    def get(self, request: Request, video_id: str) -> Response:
        """What entities do to each other, and in which event."""
        return self.list(request, video_id)


class SummaryView(VideoPartView):
    @extend_schema(operation_id="getSummary", responses=bodies.SummaryBody, tags=["Event Knowledge Graph"])
    def get(self, request: Request, video_id: str) -> Response:
        """The whole video in short: its topics, which follow each other without a break, and an overview of them.

        Told anew as the index grows: closed topics stay as they are, the last one may still change.
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
