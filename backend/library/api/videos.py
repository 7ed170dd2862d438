"""/v1/videos and /v1/collections."""

from __future__ import annotations

from typing import Any

from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import MAX_TIME_MS, Body, MetadataField, page_of, parsed, parsed_query
from backend.api.etags import etag, expected_version
from backend.api.idempotency import idempotent
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.problems import invalid
from backend.api.public_ids import PublicIdField, decode, encode
from backend.api.views import TenantView
from backend.library import queries, recording
from backend.library.api import uploads as upload_api
from backend.library.bodies.videos import (
    PIECE_SOURCES,
    IndexVersionBody,
    InputSegmentBody,
    VideoBody,
    listed_videos,
    one_video,
    segment_body,
    version_body,
)
from backend.library.indexing.begin import begin_reindex
from backend.library.models import Collection, Profile, SourceType, Upload, Video, VideoStatus
from backend.library.services import collections
from backend.library.services import input_segments as growth
from backend.library.services import videos as services
from backend.library.storage import PRESIGNED_FOR, ObjectStorage

PLAYED_AT_ONCE = 500
IF_MATCH = OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, description="the ETag that you read")


class VideoQuery(Body):
    status = serializers.ChoiceField(VideoStatus.choices, required=False)
    collection_id = PublicIdField("col", required=False)
    external_id = serializers.CharField(max_length=200, required=False)


class VideoSourceRequest(Body):
    """Where the recording comes from: an upload, a URL of the whole file, or segments that are appended."""

    type = serializers.ChoiceField(SourceType.choices)
    upload_id = PublicIdField("upl", required=False)
    url = serializers.CharField(max_length=4_000, required=False, help_text="https; fetched once, never shown in full")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return names_its_own(attrs)


class VideoRequest(Body):
    source = VideoSourceRequest()  # type: ignore[assignment]  # a field, which the metaclass takes out of the class
    title = serializers.CharField(max_length=255, required=False, help_text="these are not for an upload")
    profile = serializers.ChoiceField(Profile.choices, required=False, help_text="by default the collection's")
    collection_id = PublicIdField("col", required=False, allow_null=True)
    external_id = serializers.CharField(max_length=200, required=False)
    metadata = MetadataField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        said = sorted(set(attrs) - {"source"})
        if attrs["source"]["type"] == SourceType.UPLOAD and said:
            message = "An upload was told this when it was begun."
            raise serializers.ValidationError({said[0]: message}, code="said_by_the_upload")
        return attrs


class SegmentSourceRequest(Body):
    type = serializers.ChoiceField(PIECE_SOURCES)
    upload_id = PublicIdField("upl", required=False)
    url = serializers.CharField(max_length=4_000, required=False, help_text="https; fetched once, never shown in full")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return names_its_own(attrs)


class SegmentRequest(Body):
    source = SegmentSourceRequest()  # type: ignore[assignment]  # a field, which the metaclass takes out of the class


def names_its_own(source: dict[str, Any]) -> dict[str, Any]:
    """A source with what its type needs and nothing of another. Raises ValidationError."""
    needs = {SourceType.UPLOAD: "upload_id", SourceType.URL: "url"}.get(SourceType(source["type"]))
    for name in ("upload_id", "url"):
        if name == needs and name not in source:
            raise serializers.ValidationError({name: "A source of this type needs it."}, code="required")
        if name != needs and name in source:
            raise serializers.ValidationError({name: "A source of this type has none."}, code="not_of_this_type")
    return source


class VideoChange(Body):
    title = serializers.CharField(max_length=255, required=False, allow_blank=True)
    collection_id = PublicIdField("col", required=False, allow_null=True)
    external_id = serializers.CharField(max_length=200, required=False, allow_blank=True)
    metadata = MetadataField(required=False)


class PlayedPieceBody(serializers.Serializer[Any]):
    url = serializers.CharField()
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()


class PlaybackQuery(Body):
    start_ms = serializers.IntegerField(min_value=0, max_value=MAX_TIME_MS, required=False)
    end_ms = serializers.IntegerField(min_value=1, max_value=MAX_TIME_MS, required=False)


class PlaybackBody(serializers.Serializer[Any]):
    url = serializers.CharField(
        allow_null=True, help_text="reads the recording, also by ranges; null where it lies in segments"
    )
    segments = PlayedPieceBody(
        many=True,
        help_text="the files of the recording that overlap start_ms..end_ms, in order of time; at most 500",
    )
    expires_at = serializers.DateTimeField()


class CollectionRequest(Body):
    name = serializers.CharField(max_length=200)
    profile = serializers.ChoiceField(Profile.choices, required=False)
    instructions = serializers.CharField(
        max_length=4_000, required=False, allow_blank=True, help_text="what to look for, in your own words"
    )


class CollectionBody(serializers.Serializer[Any]):
    id = PublicIdField("col")
    object = serializers.CharField()
    name = serializers.CharField()
    profile = serializers.ChoiceField(Profile.choices)
    instructions = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()


def collection_body(collection: Collection) -> dict[str, Any]:
    names = ("id", "name", "profile", "instructions", "created_at")
    return CollectionBody({"object": "collection", **{name: getattr(collection, name) for name in names}}).data


class VideosView(TenantView):
    scopes = {"GET": "videos:read", "POST": "videos:write"}

    @extend_schema(
        operation_id="listVideos",
        parameters=[VideoQuery, *PAGE_PARAMETERS],
        responses=page_of("VideoPage", VideoBody),
        tags=["Videos"],
    )
    def get(self, request: Request) -> Response:
        """Videos, newest first."""
        narrowed = queries.VideoFilter(**parsed_query(VideoQuery, request))
        return page(request, queries.videos(narrowed), serialize_many=listed_videos)

    @extend_schema(operation_id="createVideo", request=VideoRequest, responses={202: VideoBody}, tags=["Videos"])
    @idempotent()
    def post(self, request: Request) -> Response:
        """Make a video of an upload from the parts that have arrived, of a URL, or of segments to be appended."""
        fields = parsed(VideoRequest, request)
        source = fields.pop("source")
        if source["type"] == SourceType.UPLOAD:
            return upload_api.completed(self, request, upload_of(source), None)
        if fields.get("collection_id") is not None:
            collection = queries.collections().filter(id=fields["collection_id"]).first()
            if collection is None:
                raise invalid("/collection_id", "not_found", "There is no such collection.")
            fields.setdefault("profile", collection.profile)
        if source["type"] == SourceType.URL:
            return upload_api.accepted_video(growth.begin_from_url(url=source["url"], fields=fields))
        return upload_api.accepted_video(growth.begin(fields=fields))


def upload_of(source: dict[str, Any]) -> Upload:
    """The upload that a source names. Raises the 400 of one that does not exist."""
    upload = queries.uploads().filter(id=source["upload_id"]).first()
    if upload is None:
        raise invalid("/source/upload_id", "not_found", "There is no such upload.")
    return upload


class VideoView(TenantView):
    scopes = {"GET": "videos:read", "PATCH": "videos:write", "DELETE": "videos:write"}

    def _video(self, video_id: str) -> Video:
        return self.get_or_404(queries.videos(), decode("vid", video_id))

    @extend_schema(operation_id="getVideo", responses=VideoBody, tags=["Videos"])
    def get(self, request: Request, video_id: str) -> Response:
        """A video, how far it is indexed, and how large its graph is once ready."""
        video = self._video(video_id)
        return Response(one_video(video), headers={"ETag": etag(video.version)})

    @extend_schema(
        operation_id="updateVideo", request=VideoChange, parameters=[IF_MATCH], responses=VideoBody, tags=["Videos"]
    )
    def patch(self, request: Request, video_id: str) -> Response:
        """Change title, collection, external_id or metadata; metadata is replaced as a whole."""
        video = self._video(video_id)
        version = expected_version(request, current=video.version)
        fields = parsed(VideoChange, request)
        collection_id = fields.get("collection_id")
        if collection_id is not None and not queries.collections().filter(id=collection_id).exists():
            raise invalid("/collection_id", "not_found", "There is no such collection.")
        updated = services.update_video(video=video, version=version, fields=fields)
        return Response(one_video(updated), headers={"ETag": etag(updated.version)})

    @extend_schema(operation_id="deleteVideo", parameters=[IF_MATCH], responses={202: VideoBody}, tags=["Videos"])
    def delete(self, request: Request, video_id: str) -> Response:
        """Stop indexing and delete recording, graph and thumbnails; done when the video answers 404."""
        video = self._video(video_id)
        expected_version(request, current=video.version)
        deleting = services.delete_video(video=video)
        return Response(one_video(deleting), status=202, headers={"ETag": etag(deleting.version)})


class SegmentsView(TenantView):
    scopes = {"GET": "videos:read", "POST": "videos:write"}

    @extend_schema(
        operation_id="listInputSegments",
        parameters=PAGE_PARAMETERS,
        responses=page_of("InputSegmentPage", InputSegmentBody),
        tags=["Growing input"],
    )
    def get(self, request: Request, video_id: str) -> Response:
        """The pieces that were appended to a recording, in order; none for an upload."""
        video = self.get_or_404(queries.videos(), decode("vid", video_id))
        return page(request, queries.input_segments(video), serialize=segment_body, order=("n",))

    @extend_schema(
        operation_id="appendInputSegment",
        request=SegmentRequest,
        responses={202: InputSegmentBody},
        tags=["Growing input"],
    )
    @idempotent()
    def post(self, request: Request, video_id: str) -> Response:
        """Append the next piece of a recording, from an upload whose parts have arrived or from a URL."""
        video = self.get_or_404(queries.videos(), decode("vid", video_id))
        source = parsed(SegmentRequest, request)["source"]
        if source["type"] == SourceType.UPLOAD:
            return upload_api.appended(request, upload_of(source), video)
        return upload_api.accepted_segment(growth.append_url(video_id=video.id, url=source["url"]))


class SegmentView(TenantView):
    scopes = {"GET": "videos:read"}

    @extend_schema(operation_id="getInputSegment", responses=InputSegmentBody, tags=["Growing input"])
    def get(self, request: Request, video_id: str, segment_id: str) -> Response:
        """One appended piece: whether it could be used, and where it lies in the video."""
        video = self.get_or_404(queries.videos(), decode("vid", video_id))
        return Response(segment_body(self.get_or_404(queries.input_segments(video), decode("seg", segment_id))))


class CloseView(TenantView):
    scopes = {"POST": "videos:write"}

    @extend_schema(operation_id="closeVideo", request=None, responses={202: VideoBody}, tags=["Growing input"])
    @idempotent()
    def post(self, request: Request, video_id: str) -> Response:
        """Say that nothing more will be appended: the video becomes ready when what has come is indexed."""
        video = self.get_or_404(queries.videos(), decode("vid", video_id))
        return Response(one_video(growth.close(video_id=video.id)), status=202)


class ReindexView(TenantView):
    scopes = {"POST": "videos:write"}

    @extend_schema(operation_id="reindexVideo", request=None, responses={202: VideoBody}, tags=["Index versions"])
    @idempotent()
    def post(self, request: Request, video_id: str) -> Response:
        """Index a video anew with the models and instructions of now; the old index answers until the new is ready."""
        video = self.get_or_404(queries.videos(), decode("vid", video_id))
        return Response(one_video(begin_reindex(video_id=video.id)), status=202)


class VersionsView(TenantView):
    scopes = {"GET": "videos:read"}

    @extend_schema(
        operation_id="listIndexVersions",
        parameters=PAGE_PARAMETERS,
        responses=page_of("IndexVersionPage", IndexVersionBody),
        tags=["Index versions"],
    )
    def get(self, request: Request, video_id: str) -> Response:
        """The indexes that were built of a video, newest first; replaced ones are only told of."""
        video = self.get_or_404(queries.videos(), decode("vid", video_id))
        return page(
            request,
            queries.index_versions(video),
            serialize=lambda version: version_body(video, version),
            order=("-n",),
        )


class PlaybackView(TenantView):
    scopes = {"GET": "videos:read"}

    @extend_schema(operation_id="getPlayback", parameters=[PlaybackQuery], responses=PlaybackBody, tags=["Videos"])
    def get(self, request: Request, video_id: str) -> Response:
        """URLs to the recording itself, valid for an hour."""
        video = self.get_or_404(queries.videos().exclude(status=VideoStatus.DELETING), decode("vid", video_id))
        part = parsed_query(PlaybackQuery, request)
        expires_at = timezone.now() + PRESIGNED_FOR
        storage = ObjectStorage()
        played = [
            {"url": storage.presign_get(piece.object_key), "start_ms": piece.start_ms, "end_ms": piece.end_ms}
            for piece in recording.pieces(
                video, start_ms=part.get("start_ms", 0), end_ms=part.get("end_ms"), limit=PLAYED_AT_ONCE
            )
        ]
        url = storage.presign_get(video.object_key) if video.object_key else None
        if video.source_type == SourceType.URL and played:
            url = str(played[0]["url"])
        return Response(PlaybackBody({"url": url, "segments": played, "expires_at": expires_at}).data)


class CollectionsView(TenantView):
    scopes = {"GET": "videos:read", "POST": "videos:write"}

    @extend_schema(
        operation_id="listCollections",
        parameters=PAGE_PARAMETERS,
        responses=page_of("CollectionPage", CollectionBody),
        tags=["Collections"],
    )
    def get(self, request: Request) -> Response:
        """Collections, newest first."""
        return page(request, queries.collections(), serialize=collection_body)

    @extend_schema(
        operation_id="createCollection",
        request=CollectionRequest,
        responses={201: CollectionBody},
        tags=["Collections"],
    )
    @idempotent()
    def post(self, request: Request) -> Response:
        """A folder of videos with a common profile and instructions."""
        collection = collections.create_collection(fields=parsed(CollectionRequest, request))
        location = {"Location": f"/v1/collections/{encode('col', collection.id)}"}
        return Response(collection_body(collection), status=201, headers=location)


class CollectionView(TenantView):
    scopes = {"GET": "videos:read", "PATCH": "videos:write", "DELETE": "videos:write"}

    def _collection(self, collection_id: str) -> Collection:
        return self.get_or_404(queries.collections(), decode("col", collection_id))

    @extend_schema(operation_id="getCollection", responses=CollectionBody, tags=["Collections"])
    def get(self, request: Request, collection_id: str) -> Response:
        """A collection; its videos are listed by GET /v1/videos?collection_id=…"""
        return Response(collection_body(self._collection(collection_id)))

    @extend_schema(
        operation_id="updateCollection", request=CollectionRequest, responses=CollectionBody, tags=["Collections"]
    )
    def patch(self, request: Request, collection_id: str) -> Response:
        """Change a collection; videos that are indexed already keep the index they have."""
        collection = self._collection(collection_id)
        fields = parsed(CollectionRequest, request, partial=True)
        return Response(collection_body(collections.update_collection(collection=collection, fields=fields)))

    @extend_schema(operation_id="deleteCollection", responses={204: None}, tags=["Collections"])
    def delete(self, request: Request, collection_id: str) -> Response:
        """Delete a collection; its videos stay, without one."""
        collections.delete_collection(collection=self._collection(collection_id))
        return Response(status=204)


routes = [
    *upload_api.routes,
    path("videos", VideosView.as_view()),
    path("videos/<str:video_id>", VideoView.as_view()),
    path("videos/<str:video_id>/playback", PlaybackView.as_view()),
    path("videos/<str:video_id>/segments", SegmentsView.as_view()),
    path("videos/<str:video_id>/segments/<str:segment_id>", SegmentView.as_view()),
    path("videos/<str:video_id>/close", CloseView.as_view()),
    path("videos/<str:video_id>/reindex", ReindexView.as_view()),
    path("videos/<str:video_id>/versions", VersionsView.as_view()),
    path("collections", CollectionsView.as_view()),
    path("collections/<str:collection_id>", CollectionView.as_view()),
]
