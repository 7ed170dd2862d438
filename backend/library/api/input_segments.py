"""/v1/videos/{id}/segments and /close: recordings that grow."""

from __future__ import annotations

from functools import partial

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import page_of, parsed
from backend.api.idempotency import calls_run_once, idempotent, run_once
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.public_ids import decode
from backend.api.views import SteppedTenantView, TenantView
from backend.library import queries
from backend.library.api.uploads import accepted_segment, append, upload_of
from backend.library.bodies.input_segments import (
    InputSegmentRequestSerializer,
    InputSegmentSerializer,
    segment_body,
)
from backend.library.bodies.recorded import placed
from backend.library.bodies.videos import VideoSerializer, one_video
from backend.library.models import SourceType
from backend.library.services import input_segments


class InputSegmentsView(SteppedTenantView):
    scopes = {"GET": "videos:read", "POST": "videos:write"}
    stepped = frozenset({"POST"})

    @extend_schema(
        operation_id="listInputSegments",
        parameters=PAGE_PARAMETERS,
        responses=page_of("InputSegmentPage", InputSegmentSerializer),
        tags=["Input segments"],
    )
    def get(self, request: Request, video_id: str) -> Response:
        """List the segments that were appended to a recording, in order. An upload has none."""
        video = self.get_or_404(queries.videos(), decode("vid", video_id))
        return page(
            request, queries.input_segments(video), serialize=partial(segment_body, audio=video.audio), order=("n",)
        )

    @extend_schema(
        operation_id="appendInputSegment",
        request=InputSegmentRequestSerializer,
        responses={202: InputSegmentSerializer},
        tags=["Input segments"],
    )
    @calls_run_once
    def post(self, request: Request, video_id: str) -> Response:
        """Append the next segment of a recording, from an upload or from a URL. An upload needs all its parts."""
        with self.step():
            video = self.get_or_404(queries.videos(), decode("vid", video_id))
        fields = parsed(InputSegmentRequestSerializer, request)
        source, duration_ms = fields.pop("source"), fields.pop("duration_ms", None)
        recorded = placed(fields, zone=video.time_zone)
        if source["type"] == SourceType.UPLOAD:
            return append(self, request, lambda: upload_of(source), video, recorded)

        def appended() -> Response:
            return accepted_segment(
                input_segments.append_url(
                    video_id=video.id,
                    url=source["url"],
                    recorded=recorded,
                    duration_ms=duration_ms,
                    api_key_id=self.principal.api_key_id,
                )
            )

        with self.step():
            return run_once(request, appended)


class InputSegmentView(TenantView):
    scopes = {"GET": "videos:read"}

    @extend_schema(operation_id="getInputSegment", responses=InputSegmentSerializer, tags=["Input segments"])
    def get(self, request: Request, video_id: str, segment_id: str) -> Response:
        """Return one appended segment: its status, and its position in the video."""
        video = self.get_or_404(queries.videos(), decode("vid", video_id))
        segment = self.get_or_404(queries.input_segments(video), decode("seg", segment_id))
        return Response(segment_body(segment, video.audio))


class CloseVideoView(TenantView):
    scopes = {"POST": "videos:write"}

    @extend_schema(operation_id="closeVideo", request=None, responses={202: VideoSerializer}, tags=["Input segments"])
    @idempotent()
    def post(self, request: Request, video_id: str) -> Response:
        """Close a growing recording. The video becomes ready when all appended segments are indexed."""
        video = self.get_or_404(queries.videos(), decode("vid", video_id))
        return Response(one_video(input_segments.close(video_id=video.id)), status=202)


routes = [
    path("videos/<str:video_id>/segments", InputSegmentsView.as_view()),
    path("videos/<str:video_id>/segments/<str:segment_id>", InputSegmentView.as_view()),
    path("videos/<str:video_id>/close", CloseVideoView.as_view()),
]
