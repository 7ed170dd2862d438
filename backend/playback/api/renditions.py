"""/v1/videos/{id}/hls…: the playlist of a recording, its pieces and its storyboard. Media comes from object storage."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import path
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.gzip import gzip_page
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.api.bodies import parsed_query
from backend.api.files import AnyFile
from backend.api.problems import Problem, not_found, respond
from backend.api.public_ids import decode
from backend.api.views import TenantView
from backend.billing.services.usage.storage import Link, record_links
from backend.library.models import Video, VideoStatus
from backend.library.queries import videos
from backend.library.services.attribution import attribution_to_caller
from backend.library.storage import WINDOW_S, ObjectStorage, window_begin
from backend.playback import queries
from backend.playback.authentication import TOKEN, TokenAuthentication
from backend.playback.bodies import PlaylistQuerySerializer, RenditionSerializer
from backend.playback.models import PieceState
from backend.playback.playlists import Cut, playlist
from backend.playback.services import renditions
from backend.playback.services.signed_urls import playlist_url, storyboard_url
from backend.playback.services.tokens import ends_at, token_of
from backend.playback.storyboard import storyboard
from backend.playback.watching import Rendition, rendition_of

TAGS = ["Playback"]
M3U8, MP4, JPEG, VTT = "application/vnd.apple.mpegurl", "video/mp4", "image/jpeg", "text/vtt"
RETRY_S = 5
GROWING_MAX_AGE_S = 2


class _RenditionView(TenantView):
    scopes = {"GET": "videos:read"}
    renderer_classes: Sequence[type[BaseRenderer]] = (JSONRenderer, AnyFile)
    authentication_classes: Sequence[type[BaseAuthentication]] = (
        TokenAuthentication,
        *APIView.authentication_classes,
    )

    def video(self, video_id: str) -> Video:
        video: Video = self.get_or_404(videos().exclude(status=VideoStatus.DELETING), decode("vid", video_id))
        return video

    def token(self, video: Video) -> str:
        """Return the token for what a reply names: that of the request, so that it lives no longer than this one."""
        given: str | None = self.request.query_params.get(TOKEN)
        return token_of(video.tenant_id, video.id) if given is None else given

    def watched(self, video: Video) -> Rendition:
        """Return the rendition, and let what is missing of it be made."""
        rendition = rendition_of(video)
        if not rendition.is_complete:
            renditions.plan(video)
            rendition = rendition_of(video)
        if rendition.has_failures:
            renditions.try_failed_pieces(video.id)
        return rendition


class RenditionView(_RenditionView):
    renderer_classes = (JSONRenderer,)
    # Whoever has a token has the address already.
    authentication_classes = APIView.authentication_classes

    @extend_schema(operation_id="getRendition", responses=RenditionSerializer, tags=TAGS)
    def get(self, request: Request, video_id: str) -> Response:
        """Get the signed URL of a video's playlist, and how much of it can be played.

        A rendition that does not exist is made.
        """
        video = self.video(video_id)
        rendition, token = self.watched(video), self.token(video)
        body = {
            "video_id": video.id,
            "state": rendition.state,
            "playable_ms": rendition.playable_ms,
            "playlist_url": playlist_url(video.id, token),
            "storyboard_url": storyboard_url(video.id, token),
            "expires_at": datetime.fromtimestamp(ends_at(token), UTC),
        }
        return Response(RenditionSerializer(body).data)


@method_decorator(gzip_page, name="dispatch")
class PlaylistView(_RenditionView):
    @extend_schema(
        operation_id="getPlaylist",
        parameters=[PlaylistQuerySerializer],
        responses={
            (200, kind): OpenApiResponse(OpenApiTypes.STR, "An HLS media playlist.") for kind in (M3U8, "text/plain")
        },
        tags=TAGS,
    )
    def get(self, request: Request, video_id: str) -> HttpResponse:
        """Get the HLS playlist of a video. It grows while the recording is made ready, and then ends.

        If nothing can be played yet, the reply is 409 `rendition_pending` with `Retry-After`.
        """
        video = self.video(video_id)
        query = parsed_query(PlaylistQuerySerializer, request)
        rendition = self.watched(video)
        start_ms, end_ms = query.get("start_ms") or 0, query.get("end_ms")
        part = Cut(start_ms, rendition.until_ms if end_ms is None else end_ms)
        entries = [entry for entry in rendition.entries if part.covers(entry)]
        if not any(entry.offset is not None for entry in entries):
            # Not raised: that would undo what was enqueued.
            return respond(_nothing_to_play(video, rendition), request)
        whole = rendition.is_complete or (end_ms is not None and entries[-1].end_us >= end_ms * 1000)
        record_links(
            [Link(video.id, attribution_to_caller(video), sum(entry.size for entry in entries))], at=timezone.now()
        )
        content = playlist(
            entries,
            is_complete=whole,
            token=self.token(video),
            recorded_at=rendition.recorded_at,
            start_ms=start_ms,
        )
        age = WINDOW_S if whole and not rendition.has_failures else GROWING_MAX_AGE_S
        return HttpResponse(content, content_type=M3U8, headers={"Cache-Control": f"private, max-age={age}"})


def _nothing_to_play(video: Video, rendition: Rendition) -> Problem:
    if video.source_deleted_at is not None:
        return Problem(409, "source_deleted", "The recording is deleted; only its index is kept.")
    if rendition.is_complete:
        return Problem(409, "rendition_failed", "This part of the recording cannot be played.")
    detail = "The recording is being made ready for playback; ask again."
    return Problem(409, "rendition_pending", detail, headers={"Retry-After": str(RETRY_S)})


class PieceView(_RenditionView):
    @extend_schema(
        operation_id="getPiece",
        responses={302: OpenApiResponse(description="The piece in object storage; send `Range` there.")},
        tags=TAGS,
    )
    def get(self, request: Request, video_id: str, n: int) -> HttpResponse:
        """Get one piece of a rendition: a redirect to object storage, which you may keep for as long as its headers
        say."""
        piece = queries.ready_piece(self.video(video_id).id, n)
        if piece is None:
            raise not_found()
        return _redirect(piece.object_key, MP4)


@method_decorator(gzip_page, name="dispatch")
class StoryboardView(_RenditionView):
    @extend_schema(
        operation_id="getStoryboard",
        responses={(200, VTT): OpenApiResponse(OpenApiTypes.STR, "WebVTT.")},
        tags=TAGS,
    )
    def get(self, request: Request, video_id: str) -> HttpResponse:
        """Get the pictures of a video's timeline (WebVTT): which part of which sheet shows which time."""
        video = self.video(video_id)
        # Only the playlist lets a rendition be made: a library shows pictures of many videos that nobody plays.
        rendition = rendition_of(video)
        pieces = queries.pieces(video.id).filter(state=PieceState.READY)
        content = storyboard(pieces, token=self.token(video))
        age = WINDOW_S if rendition.is_complete else GROWING_MAX_AGE_S
        headers = {"Cache-Control": f"private, max-age={age}"}
        return HttpResponse(content, content_type=f"{VTT}; charset=utf-8", headers=headers)


class SheetView(_RenditionView):
    @extend_schema(
        operation_id="getStoryboardSheet",
        responses={302: OpenApiResponse(description="The sheet in object storage.")},
        tags=TAGS,
    )
    def get(self, request: Request, video_id: str, n: int, place: int) -> HttpResponse:
        """Get one sheet of a storyboard: a redirect to object storage."""
        piece = queries.pieces(self.video(video_id).id).filter(n=n, state=PieceState.READY).first()
        if piece is None or place >= len(piece.sheets):
            raise not_found()
        return _redirect(piece.sheets[place][0], JPEG)


def _redirect(key: str, content_type: str) -> HttpResponse:
    """Redirect to an object, by a URL that is the same within a window, so that browsers keep what they have."""
    now = time.time()
    url = ObjectStorage().presign_window(key, content_type=content_type, begin=window_begin(now))
    left = int(window_begin(now) + WINDOW_S - now)
    return HttpResponseRedirect(url, headers={"Cache-Control": f"private, max-age={max(0, left)}"})


routes: list[Any] = [
    path("videos/<str:video_id>/hls", RenditionView.as_view()),
    path("videos/<str:video_id>/hls/index.m3u8", PlaylistView.as_view()),
    path("videos/<str:video_id>/hls/p/<int:n>.mp4", PieceView.as_view()),
    path("videos/<str:video_id>/hls/s/<int:n>-<int:place>.jpg", SheetView.as_view()),
    path("videos/<str:video_id>/storyboard.vtt", StoryboardView.as_view()),
]
