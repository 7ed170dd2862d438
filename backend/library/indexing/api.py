"""/v1/index-jobs: status and progress of the indexing of each video.

An index job is the indexing of one video, so its id is the video's under another prefix.
"""

from __future__ import annotations

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import page_of, parsed_query
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.public_ids import decode
from backend.api.views import TenantView
from backend.library.bodies.index_jobs import IndexJobQuerySerializer, IndexJobSerializer, index_job_bodies
from backend.library.queries import videos


class IndexJobsView(TenantView):
    scopes = {"GET": "videos:read"}

    @extend_schema(
        operation_id="listIndexJobs",
        parameters=[IndexJobQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("IndexJobPage", IndexJobSerializer),
        tags=["Index jobs"],
    )
    def get(self, request: Request) -> Response:
        """List index jobs, newest first: one per video."""
        rows = videos()
        video_id = parsed_query(IndexJobQuerySerializer, request).get("video_id")
        if video_id is not None:
            rows = rows.filter(id=video_id)
        return page(request, rows, serialize_many=index_job_bodies)


class IndexJobView(TenantView):
    scopes = {"GET": "videos:read"}

    @extend_schema(operation_id="getIndexJob", responses=IndexJobSerializer, tags=["Index jobs"])
    def get(self, request: Request, job_id: str) -> Response:
        """Return the status, stage and progress of one index job."""
        return Response(index_job_bodies([self.get_or_404(videos(), decode("job", job_id))])[0])


routes = [
    path("index-jobs", IndexJobsView.as_view()),
    path("index-jobs/<str:job_id>", IndexJobView.as_view()),
]
