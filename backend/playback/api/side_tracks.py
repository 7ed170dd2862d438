"""/v1/videos/{id}/captions…, chapters and timeline: the side tracks of a recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.http import HttpResponse
from django.urls import path
from django.utils.decorators import method_decorator
from django.views.decorators.gzip import gzip_page
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.api.bodies import TimeSpanSerializer, parsed_query
from backend.api.files import AnyFile
from backend.api.public_ids import decode
from backend.api.views import TenantView
from backend.ekg import queries as index
from backend.library.models import Video, VideoStatus
from backend.library.queries import videos
from backend.playback.authentication import TokenAuthentication
from backend.playback.captions import Cue, as_srt, as_vtt
from backend.playback.timeline import TimelineQuerySerializer, TimelineSerializer, timeline_body
from backend.playback.transcripts import spoken_cues

View = TypeVar("View", bound=Callable[..., HttpResponse])

TAGS = ["Playback"]
VTT, SRT = "text/vtt", "text/srt"


class CaptionQuerySerializer(TimeSpanSerializer):
    """With a span, times count from its start, as in a clip of it."""

    track = serializers.IntegerField(min_value=1, required=False, help_text="Only this audio track, from 1.")
    token = serializers.CharField(required=False, help_text="The token of a signed address, in place of a key.")


@method_decorator(gzip_page, name="dispatch")
class _SideTrackView(TenantView):
    scopes = {"GET": "videos:read"}
    renderer_classes = (JSONRenderer, AnyFile)

    def video(self, video_id: str) -> Video:
        video: Video = self.get_or_404(videos().exclude(status=VideoStatus.DELETING), decode("vid", video_id))
        return video

    def cues(self, request: Request, video_id: str) -> tuple[list[Cue], str]:
        """Return the captions that a request asks for, and their language if they have one only."""
        query = parsed_query(CaptionQuerySerializer, request)
        named = {name: query.get(name) for name in ("start_ms", "end_ms", "track")}
        return spoken_cues(self.video(video_id), **named)


def _text(content: str, kind: str) -> HttpResponse:
    return HttpResponse(content, content_type=f"{kind}; charset=utf-8")


def _written(operation: str, kind: str, what: str) -> Callable[[View], View]:
    reply = OpenApiResponse(OpenApiTypes.STR, what)
    parameters = [] if operation == "getChapters" else [CaptionQuerySerializer]
    written: Callable[[View], View] = extend_schema(
        operation_id=operation, parameters=parameters, responses={(200, kind): reply}, tags=TAGS
    )
    return written


class _PlayersTrackView(_SideTrackView):
    """A track that players read: they send no header, so a token of the video opens it as well."""

    authentication_classes = (TokenAuthentication, *APIView.authentication_classes)


class CaptionsVttView(_PlayersTrackView):
    @_written("getCaptions", VTT, "WebVTT.")
    def get(self, request: Request, video_id: str) -> HttpResponse:
        """Get the transcript as captions (WebVTT), at most 42 characters a row and two rows a cue."""
        cues, language = self.cues(request, video_id)
        return _text(as_vtt(cues, language=language), VTT)


class CaptionsSrtView(_PlayersTrackView):
    @_written("getSubtitles", SRT, "SubRip.")
    def get(self, request: Request, video_id: str) -> HttpResponse:
        """Get the transcript as subtitles (SubRip), for editing programs."""
        return _text(as_srt(self.cues(request, video_id)[0]), SRT)


class ChaptersView(_PlayersTrackView):
    @_written("getChapters", VTT, "WebVTT.")
    def get(self, request: Request, video_id: str) -> HttpResponse:
        """Get the topics of the summary as chapters (WebVTT)."""
        rows = index.topics(self.video(video_id)).order_by("n").values_list("start_ms", "end_ms", "title")
        return _text(as_vtt(Cue(*row) for row in rows), VTT)


class TimelineView(_SideTrackView):
    @extend_schema(
        operation_id="getTimeline", parameters=[TimelineQuerySerializer], responses=TimelineSerializer, tags=TAGS
    )
    def get(self, request: Request, video_id: str) -> Response:
        """Get events, topics, speech, objects and gaps of a video in one reply, as arrays by field."""
        query = parsed_query(TimelineQuerySerializer, request)
        return Response(TimelineSerializer(timeline_body(self.video(video_id), **query)).data)


routes = [
    path("videos/<str:video_id>/captions.vtt", CaptionsVttView.as_view()),
    path("videos/<str:video_id>/captions.srt", CaptionsSrtView.as_view()),
    path("videos/<str:video_id>/chapters.vtt", ChaptersView.as_view()),
    path("videos/<str:video_id>/timeline", TimelineView.as_view()),
]
