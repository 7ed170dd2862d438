"""/v1/videos: recordings, their index versions and their playback."""

from __future__ import annotations

from typing import Any

from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import page_of, parsed, parsed_query
from backend.api.conditional_views import IF_MATCH
from backend.api.etags import etag, expected_version, named_version
from backend.api.idempotency import calls_run_once, idempotent, run_once
from backend.api.listing import list_query
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.public_ids import decode, encode
from backend.api.views import SteppedTenantView, TenantView
from backend.billing.services.usage.storage import Link, record_links
from backend.library import queries, recording
from backend.library.api.collections import collection_of, use_collection
from backend.library.api.uploads import accepted_video, complete, upload_of
from backend.library.bodies.index_versions import IndexVersionSerializer, version_body
from backend.library.bodies.recorded import placed
from backend.library.bodies.videos import (
    PlaybackQuerySerializer,
    PlaybackSerializer,
    VideoQuerySerializer,
    VideoRequestSerializer,
    VideoSerializer,
    VideoUpdateRequestSerializer,
    listed_videos,
    one_video,
)
from backend.library.content_types import playback_type
from backend.library.indexing.begin import begin_reindex
from backend.library.models import SourceType, Video, VideoStatus
from backend.library.services import input_segments
from backend.library.services import videos as video_services
from backend.library.services.attribution import attribution_to_caller
from backend.library.services.deletion_ledger import Deleted, recorded
from backend.library.storage import READ_URL_LIFETIME, ObjectStorage

PLAYED_AT_ONCE = 500


class VideosView(SteppedTenantView):
    scopes = {"GET": "videos:read", "POST": "videos:write"}
    stepped = frozenset({"POST"})

    @extend_schema(
        operation_id="listVideos",
        parameters=[VideoQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("VideoPage", VideoSerializer),
        tags=["Videos"],
    )
    def get(self, request: Request) -> Response:
        """List videos, newest first."""
        query, wish = list_query(VideoQuerySerializer, request)
        rows = wish.of(queries.videos(queries.VideoFilter(**query)))
        return page(request, rows, serialize_many=listed_videos, order=wish.order)

    @extend_schema(
        operation_id="createVideo", request=VideoRequestSerializer, responses={202: VideoSerializer}, tags=["Videos"]
    )
    @calls_run_once
    def post(self, request: Request) -> Response:
        """Create a video from an upload, from a URL, or from segments that you append.

        An upload needs all its parts. Indexing begins at once.
        """
        fields = parsed(VideoRequestSerializer, request)
        source, duration_ms = fields.pop("source"), fields.pop("duration_ms", None)
        fields = placed(fields)
        if source["type"] == SourceType.UPLOAD:
            return complete(self, request, lambda: upload_of(source), once=True)
        with self.step():
            return run_once(request, lambda: self._begun(source, fields, duration_ms))

    def _begun(self, source: dict[str, Any], fields: dict[str, Any], duration_ms: int | None) -> Response:
        key = self.principal.api_key_id
        use_collection(fields)
        if source["type"] == SourceType.URL:
            video = input_segments.begin_from_url(
                url=source["url"], fields=fields, duration_ms=duration_ms, api_key_id=key
            )
            return accepted_video(video)
        return accepted_video(input_segments.begin(fields=fields, api_key_id=key))


class VideoView(SteppedTenantView):
    scopes = {"GET": "videos:read", "PATCH": "videos:write", "DELETE": "videos:write"}
    audited = {"PATCH": "video.moved", "DELETE": "video.deleted"}
    stepped = frozenset({"DELETE"})

    def _video(self, video_id: str) -> Video:
        return self.get_or_404(queries.videos(), decode("vid", video_id))

    @extend_schema(operation_id="getVideo", responses=VideoSerializer, tags=["Videos"])
    def get(self, request: Request, video_id: str) -> Response:
        """Return one video: how far it is indexed, and the size of its index once it is ready."""
        video = self._video(video_id)
        return Response(one_video(video), headers={"ETag": etag(video.version)})

    @extend_schema(
        operation_id="updateVideo",
        request=VideoUpdateRequestSerializer,
        parameters=[IF_MATCH],
        responses=VideoSerializer,
        tags=["Videos"],
    )
    def patch(self, request: Request, video_id: str) -> Response:
        """Change the title, collection, language, audio, external_id, metadata or recording time of a video.

        Metadata is replaced as a whole. Questions read the new recording time at once.
        """
        video = self._video(video_id)
        version = expected_version(request, current=video.version)
        fields = parsed(VideoUpdateRequestSerializer, request)
        if fields.get("collection_id") is not None:
            collection_of(fields["collection_id"])
        fields = placed(fields, zone=video.time_zone)
        before = video.collection_id
        updated = video_services.update_video(video=video, version=version, fields=fields)
        # Members who are limited to collections gain or lose the video. Its other fields are the customer's own notes.
        self.administrative = updated.collection_id != before
        moved = {"before": before, "collection_id": updated.collection_id}
        self.audit_details = {name: None if id is None else encode("col", id) for name, id in moved.items()}
        return Response(one_video(updated), headers={"ETag": etag(updated.version)})

    @extend_schema(operation_id="deleteVideo", parameters=[IF_MATCH], responses={202: VideoSerializer}, tags=["Videos"])
    def delete(self, request: Request, video_id: str) -> Response:
        """Delete a video with its recording, index and thumbnails.

        Indexing stops. The deletion is complete when the video returns 404.
        """
        with self.step():
            video = self._video(video_id)
        version = named_version(request, current=video.version)
        with recorded(Deleted.VIDEO, video.tenant_id, video.id), self.step():
            deleting = video_services.delete_video(video=video, version=version)
            self.note_act(video_id)
            return Response(one_video(deleting), status=202, headers={"ETag": etag(deleting.version)})


class ReindexView(TenantView):
    scopes = {"POST": "videos:write"}
    audited = {"POST": "video.reindexed"}

    @extend_schema(operation_id="reindexVideo", request=None, responses={202: VideoSerializer}, tags=["Index versions"])
    @idempotent()
    def post(self, request: Request, video_id: str) -> Response:
        """Index a video again with the current models and instructions.

        Questions read the old index until the new index is ready.
        """
        video = self.get_or_404(queries.videos(), decode("vid", video_id))
        return Response(one_video(begin_reindex(video_id=video.id, api_key_id=self.principal.api_key_id)), status=202)


class VersionsView(TenantView):
    scopes = {"GET": "videos:read"}

    @extend_schema(
        operation_id="listIndexVersions",
        parameters=PAGE_PARAMETERS,
        responses=page_of("IndexVersionPage", IndexVersionSerializer),
        tags=["Index versions"],
    )
    def get(self, request: Request, video_id: str) -> Response:
        """List the indexes that were built for a video, newest first. Replaced versions are listed for history only."""
        video = self.get_or_404(queries.videos(), decode("vid", video_id))
        return page(
            request,
            queries.index_versions(video),
            serialize=lambda version: version_body(video, version),
            order=("-n",),
        )


class PlaybackView(TenantView):
    scopes = {"GET": "videos:read"}

    @extend_schema(
        operation_id="getPlayback", parameters=[PlaybackQuerySerializer], responses=PlaybackSerializer, tags=["Videos"]
    )
    def get(self, request: Request, video_id: str) -> Response:
        """Return URLs of the recording itself, valid for 30 minutes."""
        video = self.get_or_404(queries.videos().exclude(status=VideoStatus.DELETING), decode("vid", video_id))
        part = parsed_query(PlaybackQuerySerializer, request)
        expires_at = timezone.now() + READ_URL_LIFETIME
        storage, kind = ObjectStorage(), playback_type(video)
        pieces = recording.pieces(
            video, start_ms=part.get("start_ms", 0), end_ms=part.get("end_ms"), limit=PLAYED_AT_ONCE
        )
        played = [
            {
                "url": storage.presign_get(piece.object_key, content_type=kind),
                "start_ms": piece.start_ms,
                "end_ms": piece.end_ms,
            }
            for piece in pieces
        ]
        url = storage.presign_get(video.object_key, content_type=kind) if video.object_key else None
        opened = [piece.object_key for piece in pieces] if url is None else [video.object_key]
        record_links([Link(video.id, attribution_to_caller(video), queries.size_of(opened))], at=timezone.now())
        if video.source_type == SourceType.URL and played:
            url = str(played[0]["url"])
        return Response(PlaybackSerializer({"url": url, "segments": played, "expires_at": expires_at}).data)


routes = [
    path("videos", VideosView.as_view()),
    path("videos/<str:video_id>", VideoView.as_view()),
    path("videos/<str:video_id>/playback", PlaybackView.as_view()),
    path("videos/<str:video_id>/reindex", ReindexView.as_view()),
    path("videos/<str:video_id>/versions", VersionsView.as_view()),
]
