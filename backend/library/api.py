"""/v1/videos and /v1/collections."""

from __future__ import annotations

from typing import Any

from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import Body, MetadataField, page_of, parsed, parsed_query
from backend.api.etags import etag, expected_version
from backend.api.idempotency import idempotent
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.problems import invalid
from backend.api.public_ids import PublicIdField, decode, encode
from backend.api.views import TenantView
from backend.library import queries, services, upload_api
from backend.library.models import Collection, Profile, Video, VideoStatus
from backend.library.representation import VideoBody, listed_video, one_video
from backend.library.storage import PRESIGNED_FOR, ObjectStorage

IF_MATCH = OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, description="the ETag that you read")


class VideoQuery(Body):
    status = serializers.ChoiceField(VideoStatus.choices, required=False)
    collection_id = PublicIdField("col", required=False)
    external_id = serializers.CharField(max_length=200, required=False)


class SourceRequest(Body):
    type = serializers.ChoiceField(["upload"])
    upload_id = PublicIdField("upl")


class VideoRequest(Body):
    source = SourceRequest()  # type: ignore[assignment]  # a field, which the metaclass takes out of the class


class VideoChange(Body):
    title = serializers.CharField(max_length=255, required=False, allow_blank=True)
    collection_id = PublicIdField("col", required=False, allow_null=True)
    external_id = serializers.CharField(max_length=200, required=False, allow_blank=True)
    metadata = MetadataField(required=False)


class PlaybackBody(serializers.Serializer[Any]):
    url = serializers.CharField(help_text="reads the recording, also by ranges")
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
        return page(request, queries.videos(narrowed), serialize=listed_video)

    @extend_schema(operation_id="createVideo", request=VideoRequest, responses={202: VideoBody}, tags=["Videos"])
    @idempotent()
    def post(self, request: Request) -> Response:
        """Make a video of an upload from the parts that have arrived: completing it without naming them."""
        upload_id = parsed(VideoRequest, request)["source"]["upload_id"]
        upload = queries.uploads().filter(id=upload_id).first()
        if upload is None:
            raise invalid("/source/upload_id", "not_found", "There is no such upload.")
        return upload_api.completed(self, request, upload, None)


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


class PlaybackView(TenantView):
    scopes = {"GET": "videos:read"}

    @extend_schema(operation_id="getPlayback", responses=PlaybackBody, tags=["Videos"])
    def get(self, request: Request, video_id: str) -> Response:
        """A URL to the recording itself, valid for an hour."""
        video = self.get_or_404(queries.videos().exclude(status=VideoStatus.DELETING), decode("vid", video_id))
        expires_at = timezone.now() + PRESIGNED_FOR
        return Response(
            PlaybackBody({"url": ObjectStorage().presign_get(video.object_key), "expires_at": expires_at}).data
        )


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
        collection = services.create_collection(fields=parsed(CollectionRequest, request))
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
        return Response(collection_body(services.update_collection(collection=collection, fields=fields)))

    @extend_schema(operation_id="deleteCollection", responses={204: None}, tags=["Collections"])
    def delete(self, request: Request, collection_id: str) -> Response:
        """Delete a collection; its videos stay, without one."""
        services.delete_collection(collection=self._collection(collection_id))
        return Response(status=204)


routes = [
    *upload_api.routes,
    path("videos", VideosView.as_view()),
    path("videos/<str:video_id>", VideoView.as_view()),
    path("videos/<str:video_id>/playback", PlaybackView.as_view()),
    path("collections", CollectionsView.as_view()),
    path("collections/<str:collection_id>", CollectionView.as_view()),
]
