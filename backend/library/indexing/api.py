"""/v1/index-jobs: status and progress of the indexing of each video, and what people decide about it.

An index job is the indexing of one video, so its id is the video's under another prefix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpResponseBase
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import MAX_TIME_MS, page_of, parsed
from backend.api.conditional_views import IF_MATCH, ConditionalView
from backend.api.idempotency import idempotent
from backend.api.listing import list_query
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.public_ids import decode
from backend.api.server.awaiting import EventStream
from backend.api.server.event_streams import EventStreamRenderer, stream_response
from backend.api.server.open_replies import open_reply
from backend.api.views import TenantView, UnboundTenantView
from backend.library.bodies.index_jobs import (
    IndexJobQuerySerializer,
    IndexJobRetryRequestSerializer,
    IndexJobSerializer,
    IndexJobUpdateRequestSerializer,
    index_job_bodies,
)
from backend.library.indexing import control
from backend.library.indexing.stream import IndexEvents
from backend.library.models import Video
from backend.library.queries import videos
from backend.tenancy.context import tenant_scope

TAGS = ["Index jobs"]


def _video(job_id: str) -> Video:
    return TenantView.get_or_404(videos(), decode("job", job_id))


def _body(video: Video) -> Response:
    return Response(index_job_bodies([video])[0])


class IndexJobsView(TenantView):
    scopes = {"GET": "videos:read"}

    @extend_schema(
        operation_id="listIndexJobs",
        parameters=[IndexJobQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("IndexJobPage", IndexJobSerializer),
        tags=TAGS,
    )
    def get(self, request: Request) -> Response:
        """List index jobs, newest first: one per video."""
        query, wish = list_query(IndexJobQuerySerializer, request)
        rows = videos()
        if "video_id" in query:
            rows = rows.filter(id=query["video_id"])
        return page(request, wish.of(rows), serialize_many=index_job_bodies, order=wish.order)


class IndexJobView(ConditionalView):
    scopes = {"GET": "videos:read", "PATCH": "videos:write"}
    audited = {"PATCH": "index_job.updated"}
    changed_by = IndexJobUpdateRequestSerializer

    @extend_schema(operation_id="getIndexJob", responses=IndexJobSerializer, tags=TAGS)
    def get(self, request: Request, job_id: str) -> Response:
        """Return the status, stage, progress and time left of one index job."""
        return _body(_video(job_id))

    @extend_schema(
        operation_id="updateIndexJob",
        parameters=[IF_MATCH],
        request=IndexJobUpdateRequestSerializer,
        responses=IndexJobSerializer,
        tags=TAGS,
    )
    def patch(self, request: Request, job_id: str) -> Response:
        """Change the priority or the deadline of an index job that is not over."""
        video = _video(job_id)
        changes = parsed(IndexJobUpdateRequestSerializer, request)
        self.audit_details = {"fields": sorted(changes)}
        if "priority" in changes:
            video = control.prioritise_indexing(video_id=video.id, rank=changes["priority"])
        if "deadline_at" in changes:
            video = control.set_index_deadline(video_id=video.id, at=changes["deadline_at"])
        return _body(video)


class _ControlView(TenantView):
    scopes = {"POST": "videos:write"}

    def _do(self, act: Callable[..., Video], job_id: str) -> Response:
        video_id: UUID = _video(job_id).id
        return _body(act(video_id=video_id))


class CancelIndexJobView(_ControlView):
    audited = {"POST": "index_job.canceled"}

    @extend_schema(operation_id="cancelIndexJob", tags=TAGS, request=None, responses=IndexJobSerializer)
    @idempotent()
    def post(self, request: Request, job_id: str) -> Response:
        """Cancel an index job. You can ask about what is indexed so far; a retry goes on from there."""
        return self._do(control.cancel_indexing, job_id)


class PauseIndexJobView(_ControlView):
    audited = {"POST": "index_job.paused"}

    @extend_schema(operation_id="pauseIndexJob", tags=TAGS, request=None, responses=IndexJobSerializer)
    @idempotent()
    def post(self, request: Request, job_id: str) -> Response:
        """Pause an index job. Segments that are being worked on are finished; no other one begins."""
        return self._do(control.pause_indexing, job_id)


class ResumeIndexJobView(_ControlView):
    audited = {"POST": "index_job.resumed"}

    @extend_schema(operation_id="resumeIndexJob", tags=TAGS, request=None, responses=IndexJobSerializer)
    @idempotent()
    def post(self, request: Request, job_id: str) -> Response:
        """Go on with a paused index job."""
        return self._do(control.resume_indexing, job_id)


class RetryIndexJobView(_ControlView):
    audited = {"POST": "index_job.retried"}

    @extend_schema(
        operation_id="retryIndexJob",
        tags=TAGS,
        request=IndexJobRetryRequestSerializer,
        responses={202: IndexJobSerializer},
    )
    @idempotent()
    def post(self, request: Request, job_id: str) -> Response:
        """Do again what failed in an index, in place.

        The version and all ids stay, and nothing is billed twice. In a ready index the segments with gaps are observed
        again, and its events are put together again; until then you can ask about what is put together so far. With
        `start_ms` or `end_ms` only segments with gaps in that part are observed again, and other gaps stay.
        """
        video = _video(job_id)
        response = _body(control.retry_indexing(video_id=video.id, part=_part(request)))
        response.status_code = 202
        return response


def _part(request: Request) -> control.TimeSpan | None:
    """Return the part of the recording that the body names; None for an empty body."""
    named = parsed(IndexJobRetryRequestSerializer, request)
    return control.TimeSpan(named.get("start_ms", 0), named.get("end_ms", MAX_TIME_MS)) if named else None


class StreamIndexJobView(UnboundTenantView):
    scopes = {"GET": "videos:read"}
    renderer_classes = (EventStreamRenderer, JSONRenderer)

    @extend_schema(
        operation_id="streamIndexJob",
        tags=TAGS,
        responses=stream_response(
            "Server-sent events with JSON data: `progress` with the index job whenever it changes, then `outcome`.",
            IndexJobSerializer,
        ),
    )
    def get(self, request: Request, job_id: str) -> HttpResponseBase:
        """Stream the progress of an index job.

        The stream ends with the job's outcome, or after 15 minutes: connect again to go on.
        """
        tenant_id = self.principal.tenant_id
        with tenant_scope(tenant_id):
            video = _video(job_id)
        return EventStream(IndexEvents(tenant_id=tenant_id, video_id=video.id), open_reply(self.principal))


routes: list[Any] = [
    path("index-jobs", IndexJobsView.as_view()),
    path("index-jobs/<str:job_id>", IndexJobView.as_view()),
    path("index-jobs/<str:job_id>/cancel", CancelIndexJobView.as_view()),
    path("index-jobs/<str:job_id>/pause", PauseIndexJobView.as_view()),
    path("index-jobs/<str:job_id>/resume", ResumeIndexJobView.as_view()),
    path("index-jobs/<str:job_id>/retry", RetryIndexJobView.as_view()),
    path("index-jobs/<str:job_id>/stream", StreamIndexJobView.as_view()),
]
