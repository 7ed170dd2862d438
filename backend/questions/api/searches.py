"""/v1/search and /v1/searches: the events nearest to a query, ranked, without an answer."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api import public_ids
from backend.api.bodies import MAX_TIME_MS, Body, ErrorBody, page_of, parsed
from backend.api.idempotency import run_once
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.problems import invalid
from backend.api.views import TenantView, UnboundTenantView
from backend.library.storage import ObjectStorage
from backend.questions import stream
from backend.questions.api.questions import wanted_wait
from backend.questions.bodies.questions import FrameSerializer
from backend.questions.models import QuestionStatus
from backend.questions.queries.scopes import MAX_VIDEOS
from backend.questions.services import searches
from backend.questions.services.searches import SearchView
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.retrieval.moments import FoundSpan, moments

# Searching takes a second at most once a worker has it, so waiting is what a client expects.
DEFAULT_WAIT_SECONDS = 10
POLL_SECONDS = 0.1
DEFAULT_LIMIT = 16
MAX_LIMIT = 100
MAX_WEIGHT = 10
FUSIONS = ("contrast", "borda", "rrf")


class NewSearchSerializer(Body):
    query = serializers.CharField(max_length=4_000)
    video_ids = serializers.ListField(
        child=public_ids.PublicIdField("vid"), required=False, min_length=1, max_length=MAX_VIDEOS
    )
    collection_id = public_ids.PublicIdField("col", required=False)
    start_ms = serializers.IntegerField(min_value=0, max_value=MAX_TIME_MS, required=False, allow_null=True)
    end_ms = serializers.IntegerField(min_value=1, max_value=MAX_TIME_MS, required=False, allow_null=True)
    limit = serializers.IntegerField(min_value=1, max_value=MAX_LIMIT, default=DEFAULT_LIMIT)
    # Which views there are is the service's to say.
    views = serializers.DictField(
        child=serializers.FloatField(min_value=0, max_value=MAX_WEIGHT),
        required=False,
        help_text=f"Weights 0 to {MAX_WEIGHT} of {', '.join(searches.VIEWS)}; 0 leaves a view out. "
        f"By default {', '.join(f'{view} {weight:g}' for view, weight in searches.DEFAULT_WEIGHTS.items())}.",
    )
    fusion = serializers.ChoiceField(FUSIONS, default="contrast")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("video_ids" in attrs) == ("collection_id" in attrs):
            raise serializers.ValidationError("Give either video_ids or collection_id.", code="scope_required")
        return attrs


class SearchReasonSerializer(serializers.Serializer[Any]):
    view = serializers.ChoiceField(searches.VIEWS)
    similarity = serializers.FloatField()
    text = serializers.CharField(help_text="What matched in words; empty if the event itself did.")


class SearchResultSerializer(serializers.Serializer[Any]):
    event_id = public_ids.PublicIdField("evt")
    video_id = public_ids.PublicIdField("vid")
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
    summary = serializers.CharField()
    score = serializers.FloatField()
    reasons = SearchReasonSerializer(many=True)
    frame = FrameSerializer(allow_null=True)


class SearchSummarySerializer(serializers.Serializer[Any]):
    id = public_ids.PublicIdField("sea")
    object = serializers.CharField()
    status = serializers.ChoiceField(QuestionStatus.choices)
    query = serializers.CharField()
    video_ids = serializers.ListField(child=public_ids.PublicIdField("vid"))
    start_ms = serializers.IntegerField(allow_null=True)
    end_ms = serializers.IntegerField(allow_null=True)
    limit = serializers.IntegerField()
    views = serializers.DictField(child=serializers.FloatField())
    fusion = serializers.ChoiceField(FUSIONS)
    result_count = serializers.IntegerField()
    usage = serializers.DictField(allow_null=True)
    timings = serializers.DictField(child=serializers.IntegerField(), allow_null=True)
    error = ErrorBody(allow_null=True)
    created_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField(allow_null=True)


class MomentSerializer(serializers.Serializer[Any]):
    video_id = public_ids.PublicIdField("vid")
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
    score = serializers.FloatField()
    event_ids = serializers.ListField(child=public_ids.PublicIdField("evt"))


class SearchSerializer(SearchSummarySerializer):
    results = SearchResultSerializer(many=True, help_text="Events, best first.")
    moments = MomentSerializer(
        many=True, help_text="Stretches of time, best first: the results, and neighbours among them as a whole."
    )


def summarise(view: SearchView) -> dict[str, Any]:
    search, settings = view.search, view.search.settings
    failed = search.status == QuestionStatus.FAILED
    return {
        "id": public_ids.encode("sea", search.id),
        "object": "search",
        "status": search.status,
        "query": search.text,
        "video_ids": [public_ids.encode("vid", video) for video in view.videos],
        "start_ms": search.start_ms,
        "end_ms": search.end_ms,
        "limit": settings["limit"],
        "views": settings["views"],
        "fusion": settings["fusion"],
        "result_count": len(search.results),
        "usage": search.usage or None,
        "timings": search.timings or None,
        "error": {"code": search.error_code, "message": search.error_message} if failed else None,
        "created_at": search.created_at,
        "completed_at": search.completed_at,
    }


def represent(view: SearchView) -> dict[str, Any]:
    results = view.search.results
    return {**summarise(view), "results": [_result(result) for result in results], "moments": _moments(results)}


def _moments(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = [
        FoundSpan(
            UUID(result["video_id"]),
            UUID(result["event_id"]),
            result["n"],
            Span(result["start_ms"], result["end_ms"]),
            result["score"],
        )
        for result in results
    ]
    return [
        {
            "video_id": public_ids.encode("vid", moment.video_id),
            "start_ms": moment.span.start_ms,
            "end_ms": moment.span.end_ms,
            "score": moment.score,
            "event_ids": [public_ids.encode("evt", event_id) for event_id in moment.event_ids],
        }
        for moment in moments(found)
    ]


def _result(result: dict[str, Any]) -> dict[str, Any]:
    key, ms = result["frame_key"], result["frame_ms"]
    frame = None if ms is None else {"ms": ms, "url": ObjectStorage().presign_get(key) if key else None}
    return {
        "event_id": public_ids.encode("evt", UUID(result["event_id"])),
        "video_id": public_ids.encode("vid", UUID(result["video_id"])),
        **{name: result[name] for name in ("start_ms", "end_ms", "summary", "score", "reasons")},
        "frame": frame,
    }


class NewSearchView(UnboundTenantView):
    scopes: ClassVar[dict[str, str]] = {"POST": "questions:write"}

    @extend_schema(
        operation_id="search",
        request=NewSearchSerializer,
        parameters=[
            OpenApiParameter(
                "Prefer",
                str,
                OpenApiParameter.HEADER,
                description=f"`wait=N`, N up to 60 seconds ({DEFAULT_WAIT_SECONDS} by default), or `respond-async`",
            )
        ],
        responses={200: SearchSerializer, 202: SearchSerializer},
    )
    def post(self, request: Request) -> Response:
        """The events nearest to a query. 200 with them if they are found in time, else 202 and where to look."""
        asked = parsed(NewSearchSerializer, request)
        asked["text"] = asked.pop("query")
        tenant_id = self.principal.tenant_id

        def create() -> Response:
            search = searches.create_search(**asked, api_key_id=self.principal.api_key_id)
            (view,) = searches.views_of([search])
            location = f"/v1/searches/{public_ids.encode('sea', search.id)}"
            return Response(represent(view), status=202, headers={"Location": location})

        # Committed before the wait begins: no worker sees the search until then.
        with tenant_scope(tenant_id):
            response = run_once(request, create)
        seconds = wanted_wait(request, default=DEFAULT_WAIT_SECONDS)
        if response.status_code != 202 or not seconds:
            return response
        search_id = public_ids.decode("sea", response.data["id"])

        def over() -> bool:
            with tenant_scope(tenant_id):
                return searches.is_over(search_id)

        done = stream.wait_until(over, seconds=seconds, every=POLL_SECONDS)
        with tenant_scope(tenant_id):
            (view,) = searches.views_of([self.get_or_404(searches.searches(), search_id)])
        response.data = represent(view)
        if done:
            response.status_code = 200
        response.headers["Preference-Applied"] = f"wait={seconds}"
        return response


class SearchesView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": "questions:read"}

    @extend_schema(
        operation_id="searches_list",
        parameters=[
            OpenApiParameter("status", str, enum=QuestionStatus.values),
            OpenApiParameter("video_id", str),
            *PAGE_PARAMETERS,
        ],
        responses=page_of("SearchPage", SearchSummarySerializer),
    )
    def get(self, request: Request) -> Response:
        """Searches without their results, newest first."""
        query = request.query_params
        status = query.get("status", "")
        if status and status not in QuestionStatus.values:
            raise invalid("/status", "unknown_status", f"status is one of {', '.join(QuestionStatus.values)}.")
        video_id = public_ids.decode("vid", query["video_id"]) if "video_id" in query else None
        rows = searches.searches(status=status, video_id=video_id)
        return page(request, rows, serialize_many=lambda found: [summarise(view) for view in searches.views_of(found)])


class SearchDetailView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": "questions:read"}

    @extend_schema(operation_id="searches_get", responses=SearchSerializer)
    def get(self, request: Request, search_id: str) -> Response:
        """One search with its results as far as there are any."""
        search = self.get_or_404(searches.searches(), public_ids.decode("sea", search_id))
        (view,) = searches.views_of([search])
        return Response(represent(view))


routes: list[Any] = [
    path("search", NewSearchView.as_view(), name="search"),
    path("searches", SearchesView.as_view(), name="searches"),
    path("searches/<str:search_id>", SearchDetailView.as_view(), name="search-detail"),
]
