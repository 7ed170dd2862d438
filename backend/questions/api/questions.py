"""/v1/questions: ask, read, list, cancel, stream."""

from __future__ import annotations

import re
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpResponseBase, StreamingHttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api import public_ids
from backend.api.bodies import MAX_TIME_MS, Body, MetadataField, page_of, parsed
from backend.api.idempotency import idempotent, run_once
from backend.api.pagination import NEWEST_FIRST, PAGE_PARAMETERS, page
from backend.api.problems import Problem, invalid
from backend.api.views import TenantView, UnboundTenantView
from backend.questions import stream
from backend.questions.bodies.questions import QuestionSerializer, represent
from backend.questions.models import Question, QuestionStatus
from backend.questions.queries import questions as queries
from backend.questions.queries.scopes import MAX_VIDEOS
from backend.questions.services import questions as services
from backend.questions.services.feedback import VERDICTS
from backend.tenancy.context import tenant_scope

# The engine's methods (gpu_workers.engine.answering.methods); a test holds the two lists together.
METHODS = ("ava", "uniform", "vector", "caption_rag")
EFFORTS = ("low", "medium", "high", "paper")
CHECKS = ("auto", "off", "frames", "inspect")
LONGEST_WAIT_SECONDS = 60
_WAIT = re.compile(r"(?:^|[,;\s])wait=(\d{1,6})(?=$|[,;\s])")
_ASYNC = re.compile(r"(?:^|[,;\s])respond-async(?=$|[,;\s])")
INCLUDE = OpenApiParameter("include", str, description="`trace`: the search tree with its candidates and scores")


class BudgetSerializer(Body):
    max_calls = serializers.IntegerField(min_value=1, max_value=10_000, required=False)
    max_tokens = serializers.IntegerField(min_value=1, max_value=100_000_000, required=False)
    max_seconds = serializers.FloatField(min_value=0.1, max_value=86_400, required=False)
    max_cost = serializers.DecimalField(
        max_digits=12, decimal_places=6, min_value=0, required=False, help_text="In the ledger's currency."
    )


class NewQuestionSerializer(Body):
    question = serializers.CharField(max_length=4_000)
    choices = serializers.ListField(child=serializers.CharField(max_length=1_000), required=False, max_length=26)
    video_ids = serializers.ListField(
        child=public_ids.PublicIdField("vid"), required=False, min_length=1, max_length=MAX_VIDEOS
    )
    collection_id = public_ids.PublicIdField("col", required=False)
    start_ms = serializers.IntegerField(min_value=0, max_value=MAX_TIME_MS, required=False, allow_null=True)
    end_ms = serializers.IntegerField(min_value=1, max_value=MAX_TIME_MS, required=False, allow_null=True)
    method = serializers.ChoiceField(METHODS, default="ava")
    effort = serializers.ChoiceField(EFFORTS, default="medium")
    check = serializers.ChoiceField(
        CHECKS,
        default="auto",
        help_text="How method ava looks again where its answer is in doubt: at frames in one look, or by inspection, "
        "planned looks in rounds. auto: as the effort says.",
    )
    budget = BudgetSerializer(required=False)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)
    external_id = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    metadata = MetadataField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("video_ids" in attrs) == ("collection_id" in attrs):
            raise serializers.ValidationError("Give either video_ids or collection_id.", code="scope_required")
        return attrs

    def validate_budget(self, value: dict[str, Any]) -> dict[str, Any]:
        # Stored as JSON, where a decimal is text.
        return {name: str(limit) if name == "max_cost" else limit for name, limit in value.items()}


class AskedQuestionSerializer(NewQuestionSerializer):
    """A question asked by itself: it may be the next one of a session, whose scope it then has unless it names one."""

    session_id = public_ids.PublicIdField("ses", required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        named = "video_ids" in attrs or "collection_id" in attrs
        return super().validate(attrs) if named or attrs.get("session_id") is None else attrs


def wanted_wait(request: Request, *, default: int = 0) -> int:
    """Seconds of `Prefer: wait=N`, at most 60; without it 0 for `respond-async`, else the default."""
    preferences = request.headers.get("Prefer", "")
    found = _WAIT.search(preferences)
    if found:
        return min(int(found[1]), LONGEST_WAIT_SECONDS)
    return 0 if _ASYNC.search(preferences) else default


def wants_trace(request: Request) -> bool:
    return "trace" in request.query_params.get("include", "").split(",")


def _question(question_id: str) -> Question:
    return TenantView.get_or_404(queries.questions(), public_ids.decode("qst", question_id))


class QuestionsView(UnboundTenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": "questions:read", "POST": "questions:write"}

    @extend_schema(
        operation_id="questions_create",
        request=AskedQuestionSerializer,
        parameters=[
            OpenApiParameter("Prefer", str, OpenApiParameter.HEADER, description="`wait=N`, N up to 60 seconds"),
            OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER),
            INCLUDE,
        ],
        responses={200: QuestionSerializer, 202: QuestionSerializer},
    )
    def post(self, request: Request) -> Response:
        """Ask a question. 202 while it is worked on; with `Prefer: wait=N`, 200 if it has an outcome in time."""
        asked = parsed(AskedQuestionSerializer, request)
        asked["text"] = asked.pop("question")
        tenant_id = self.principal.tenant_id

        def create() -> Response:
            question = services.create_question(**asked, api_key_id=self.principal.api_key_id)
            view = queries.view_of(question)
            return Response(represent(view), status=202, headers={"Location": _location(question.id)})

        # Committed before the wait begins: nobody else can see the question, let alone answer it, until then.
        with tenant_scope(tenant_id):
            response = run_once(request, create)
        seconds = wanted_wait(request)
        if response.status_code != 202 or not seconds:
            return response
        question_id = public_ids.decode("qst", response.data["id"])
        done = stream.wait_for_outcome(tenant_id=tenant_id, question_id=question_id, seconds=seconds)
        with tenant_scope(tenant_id):
            question = self.get_or_404(queries.questions(), question_id)
            response.data = represent(queries.view_of(question, trace=wants_trace(request)))
        response.status_code = 200 if done else 202
        response.headers["Preference-Applied"] = f"wait={seconds}"
        return response

    @extend_schema(
        operation_id="questions_list",
        parameters=[
            OpenApiParameter("status", str, enum=QuestionStatus.values),
            OpenApiParameter("external_id", str),
            OpenApiParameter("video_id", str),
            OpenApiParameter("batch_id", str, description="The questions of a batch, in its order"),
            OpenApiParameter("feedback", str, enum=VERDICTS),
            *PAGE_PARAMETERS,
        ],
        responses=page_of("QuestionPage", QuestionSerializer),
    )
    def get(self, request: Request) -> Response:
        """Questions, newest first; those of a batch in its order."""
        query = request.query_params
        status = query.get("status", "")
        if status and status not in QuestionStatus.values:
            raise invalid("/status", "unknown_status", f"status is one of {', '.join(QuestionStatus.values)}.")
        verdict = query.get("feedback", "")
        if verdict and verdict not in VERDICTS:
            raise invalid("/feedback", "unknown_feedback", f"feedback is one of {', '.join(VERDICTS)}.")
        video_id = public_ids.decode("vid", query["video_id"]) if "video_id" in query else None
        session_id = public_ids.decode("ses", query["session_id"]) if "session_id" in query else None
        batch_id = public_ids.decode("bat", query["batch_id"]) if "batch_id" in query else None
        with tenant_scope(self.principal.tenant_id):
            rows = queries.questions(
                status=status,
                external_id=query.get("external_id", ""),
                video_id=video_id,
                batch_id=batch_id,
                session_id=session_id,
                verdict=verdict,
            )
            return page(
                request,
                rows,
                serialize_many=lambda found: [represent(view) for view in queries.views_of(found)],
                order=NEWEST_FIRST if batch_id is None else ("batch_position",),
            )


class QuestionDetailView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": "questions:read"}

    @extend_schema(operation_id="questions_get", parameters=[INCLUDE], responses=QuestionSerializer)
    def get(self, request: Request, question_id: str) -> Response:
        """One question with its answer, evidence, usage, cost and timings as far as there are any."""
        return Response(represent(queries.view_of(_question(question_id), trace=wants_trace(request))))


class CancelQuestionView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"POST": "questions:write"}

    @extend_schema(operation_id="questions_cancel", request=None, responses=QuestionSerializer)
    @idempotent()
    def post(self, request: Request, question_id: str) -> Response:
        """Cancel a question that has no outcome yet; one that was canceled already stays so."""
        question = _question(question_id)
        canceled = services.cancel_question(question_id=question.id)
        question = canceled or _question(question_id)
        if canceled is None and question.status != QuestionStatus.CANCELED:
            raise Problem(409, "question_over", f"The question has {question.status} already.")
        return Response(represent(queries.view_of(question)))


class EventStreamRenderer(BaseRenderer):
    """Lets a client ask for text/event-stream; the stream itself is written by the view."""

    media_type = "text/event-stream"
    format = "sse"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        # Only a problem comes this way: the stream was refused before it began.
        return JSONRenderer().render(data)


class StreamQuestionView(UnboundTenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": "questions:read"}
    renderer_classes = (EventStreamRenderer, JSONRenderer)

    @extend_schema(
        operation_id="questions_stream",
        responses={(200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR, "progress*, partial*, node*, answer")},
    )
    def get(self, request: Request, question_id: str) -> HttpResponseBase:
        """Progress and the best answer so far as they change, then the search's nodes, then the answer; ends with the
        question."""
        with tenant_scope(self.principal.tenant_id):
            question = _question(question_id)
        response = StreamingHttpResponse(
            stream.events(tenant_id=self.principal.tenant_id, question_id=question.id),
            content_type="text/event-stream",
        )
        response.headers["Cache-Control"] = "no-store"
        # A buffering proxy would hold the events back.
        response.headers["X-Accel-Buffering"] = "no"
        return response


def _location(question_id: UUID) -> str:
    return f"/v1/questions/{public_ids.encode('qst', question_id)}"


routes: list[Any] = [
    path("questions", QuestionsView.as_view(), name="questions"),
    path("questions/<str:question_id>", QuestionDetailView.as_view(), name="question"),
    path("questions/<str:question_id>/cancel", CancelQuestionView.as_view(), name="question-cancel"),
    path("questions/<str:question_id>/stream", StreamQuestionView.as_view(), name="question-stream"),
]
