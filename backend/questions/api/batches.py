"""/v1/question-batches: ask many questions at once, follow them by their counts, fetch their answers as one stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
from rest_framework.utils.encoders import JSONEncoder

from backend.api import public_ids
from backend.api.bodies import Body, MetadataField, page_of, parsed
from backend.api.idempotency import idempotent
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.problems import FieldError, Problem, invalid
from backend.api.views import TenantView, UnboundTenantView
from backend.billing.rates import plain
from backend.questions.api.questions import EFFORTS, METHODS, BudgetSerializer, NewQuestionSerializer
from backend.questions.bodies.questions import represent
from backend.questions.models import BatchStatus, QuestionBatch
from backend.questions.queries import questions as queries
from backend.questions.queries.batches import BatchCounts, counts_of
from backend.questions.queries.scopes import MAX_VIDEOS
from backend.questions.services import batches
from backend.tenancy.context import tenant_scope

RESULTS_PAGE = 100
_SCOPE = ("video_ids", "collection_id")


class BatchQuestionSerializer(NewQuestionSerializer):
    """A question of a batch: as if asked alone, but what it leaves out is the batch's."""

    method = serializers.ChoiceField(METHODS, required=False)
    effort = serializers.ChoiceField(EFFORTS, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        # Whether there is a scope at all is known once the batch's is.
        return super().validate(attrs) if any(name in attrs for name in _SCOPE) else attrs


class NewBatchSerializer(Body):
    questions: Any = serializers.ListSerializer(
        child=BatchQuestionSerializer(), min_length=1, max_length=batches.MAX_QUESTIONS
    )
    video_ids = serializers.ListField(
        child=public_ids.PublicIdField("vid"), required=False, min_length=1, max_length=MAX_VIDEOS
    )
    collection_id = public_ids.PublicIdField("col", required=False)
    method = serializers.ChoiceField(METHODS, required=False)
    effort = serializers.ChoiceField(EFFORTS, required=False)
    budget = BudgetSerializer(required=False)
    external_id = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    metadata = MetadataField(required=False)

    validate_budget = NewQuestionSerializer.validate_budget

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The batch's scope, method, effort and budget become those of the questions that name none."""
        scope = {name: attrs.pop(name) for name in _SCOPE if name in attrs}
        if len(scope) > 1:
            raise serializers.ValidationError("Give either video_ids or collection_id.", code="scope_required")
        defaults = {name: attrs.pop(name) for name in ("method", "effort", "budget") if name in attrs}
        faults: list[dict[str, Any]] = []
        asked = []
        for question in attrs["questions"]:
            own = any(name in question for name in _SCOPE)
            faults.append({} if own or scope else {"non_field_errors": [_no_scope()]})
            asked.append({**defaults, **({} if own else scope), **question, "text": question["question"]})
            del asked[-1]["question"]
        if any(faults):
            raise serializers.ValidationError({"questions": faults})
        return {**attrs, "questions": asked}


def _no_scope() -> serializers.ErrorDetail:
    return serializers.ErrorDetail("Give either video_ids or collection_id, here or for the batch.", "scope_required")


def represent_batch(batch: QuestionBatch, counts: BatchCounts) -> dict[str, Any]:
    return {
        "id": public_ids.encode("bat", batch.id),
        "object": "question_batch",
        "status": batch.status,
        "external_id": batch.external_id,
        "metadata": batch.metadata,
        "counts": {"total": batch.total, **counts.statuses},
        "finish_reasons": counts.finish_reasons,
        "usage": counts.usage,
        "cost": {
            "amount": plain(counts.cost),
            "currency": counts.currency,
            # Questions that are still open are not in it.
            "estimated": batch.status == BatchStatus.RUNNING,
        },
        "created_at": batch.created_at,
        "completed_at": batch.completed_at,
    }


def represent_batches(rows: list[QuestionBatch]) -> list[dict[str, Any]]:
    counts = counts_of([row.id for row in rows])
    return [represent_batch(row, counts[row.id]) for row in rows]


class BatchCountsSerializer(serializers.Serializer[Any]):
    total = serializers.IntegerField()
    queued = serializers.IntegerField()
    running = serializers.IntegerField()
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()
    canceled = serializers.IntegerField()


class BatchUsageSerializer(serializers.Serializer[Any]):
    calls = serializers.IntegerField()
    prompt_tokens = serializers.IntegerField()
    cached_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()


class BatchCostSerializer(serializers.Serializer[Any]):
    amount = serializers.CharField(help_text="Exact decimal: the sum of what the questions with an outcome cost.")
    currency = serializers.CharField()
    estimated = serializers.BooleanField()


class BatchSerializer(serializers.Serializer[Any]):
    id = public_ids.PublicIdField("bat")
    object = serializers.CharField()
    status = serializers.ChoiceField(
        BatchStatus.choices, help_text="`completed`: no question is open. Whether they have answers, `counts` tells."
    )
    external_id = serializers.CharField()
    metadata = serializers.DictField(child=serializers.CharField())
    counts = BatchCountsSerializer()
    finish_reasons = serializers.DictField(child=serializers.IntegerField())
    usage = BatchUsageSerializer()
    cost = BatchCostSerializer()
    created_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField(allow_null=True)


def _batch(batch_id: str) -> QuestionBatch:
    return TenantView.get_or_404(queries.batches(), public_ids.decode("bat", batch_id))


class BatchesView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": "questions:read", "POST": "questions:write"}

    @extend_schema(operation_id="question_batches_create", request=NewBatchSerializer, responses={202: BatchSerializer})
    @idempotent()
    def post(self, request: Request) -> Response:
        """Ask up to 1,000 questions. All of them are asked, or none; what is wrong with which, the pointers say."""
        asked = parsed(NewBatchSerializer, request)
        try:
            batch = batches.create_batch(**asked, api_key_id=self.principal.api_key_id)
        except batches.BatchRefused as refused:
            errors = [
                FieldError(f"/questions/{position}{error.pointer or ''}", error.code, error.detail)
                for position, error in refused.refusals.items()
            ]
            raise Problem(400, "invalid_request", "The request is not valid.", errors=errors) from None
        location = f"/v1/question-batches/{public_ids.encode('bat', batch.id)}"
        return Response(represent_batches([batch])[0], status=202, headers={"Location": location})

    @extend_schema(
        operation_id="question_batches_list",
        parameters=[
            OpenApiParameter("status", str, enum=BatchStatus.values),
            OpenApiParameter("external_id", str),
            *PAGE_PARAMETERS,
        ],
        responses=page_of("QuestionBatchPage", BatchSerializer),
    )
    def get(self, request: Request) -> Response:
        """Batches, newest first."""
        status = request.query_params.get("status", "")
        if status and status not in BatchStatus.values:
            raise invalid("/status", "unknown_status", f"status is one of {', '.join(BatchStatus.values)}.")
        rows = queries.batches(status=status, external_id=request.query_params.get("external_id", ""))
        return page(request, rows, serialize_many=represent_batches)


class BatchDetailView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": "questions:read"}

    @extend_schema(operation_id="question_batches_get", responses=BatchSerializer)
    def get(self, request: Request, batch_id: str) -> Response:
        """How many questions of a batch stand where, and what they have used and cost."""
        return Response(represent_batches([_batch(batch_id)])[0])


class CancelBatchView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"POST": "questions:write"}

    @extend_schema(operation_id="question_batches_cancel", request=None, responses=BatchSerializer)
    @idempotent()
    def post(self, request: Request, batch_id: str) -> Response:
        """Cancel what is open of a batch; answers that are there stay."""
        batch = _batch(batch_id)
        batches.cancel_batch(batch_id=batch.id)
        batch = _batch(batch_id)
        if batch.status != BatchStatus.CANCELED:
            raise Problem(409, "batch_over", f"The batch is {batch.status} already.")
        return Response(represent_batches([batch])[0])


class JsonLinesRenderer(BaseRenderer):
    """Lets a client ask for newline-delimited JSON; the lines themselves are written by the view."""

    media_type = "application/x-ndjson"
    format = "ndjson"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        # Only a problem comes this way: the stream was refused before it began.
        return JSONRenderer().render(data)


class BatchResultsView(UnboundTenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": "questions:read"}
    renderer_classes = (JsonLinesRenderer, JSONRenderer)

    @extend_schema(
        operation_id="question_batches_results",
        responses={
            (200, "application/x-ndjson"): OpenApiResponse(OpenApiTypes.STR, "One question a line, in batch order")
        },
    )
    def get(self, request: Request, batch_id: str) -> HttpResponseBase:
        """Every question of a batch as it stands now, one line each, in the order in which they were asked."""
        tenant_id = self.principal.tenant_id
        with tenant_scope(tenant_id):
            batch = _batch(batch_id)
        response = StreamingHttpResponse(_lines(tenant_id, batch.id), content_type=JsonLinesRenderer.media_type)
        # The links to frames are good for an hour.
        response.headers["Cache-Control"] = "no-store"
        return response


def _lines(tenant_id: UUID, batch_id: UUID) -> Iterator[bytes]:
    """The lines of one page at a time, each read in a transaction of its own."""
    after: int | None = -1
    while True:
        with tenant_scope(tenant_id):
            found = queries.questions(batch_id=batch_id).filter(batch_position__gt=after).order_by("batch_position")
            rows = list(found[:RESULTS_PAGE])
            bodies = [represent(view) for view in queries.views_of(rows)]
        if not rows:
            return
        yield b"".join(json.dumps(body, cls=JSONEncoder, separators=(",", ":")).encode() + b"\n" for body in bodies)
        after = rows[-1].batch_position


routes: list[Any] = [
    path("question-batches", BatchesView.as_view(), name="question-batches"),
    path("question-batches/<str:batch_id>", BatchDetailView.as_view(), name="question-batch"),
    path("question-batches/<str:batch_id>/cancel", CancelBatchView.as_view(), name="question-batch-cancel"),
    path("question-batches/<str:batch_id>/results", BatchResultsView.as_view(), name="question-batch-results"),
]
