"""/v1/question-batches: ask many questions at once, follow them by their counts, fetch their answers as one stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.http import HttpResponseBase
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import listed, page_of, parsed
from backend.api.idempotency import idempotent
from backend.api.listing import list_query
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.problems import Problem
from backend.api.public_ids import decode, encode
from backend.api.views import SteppedTenantView, TenantView, UnboundTenantView
from backend.library.services.deletion_ledger import Deleted
from backend.questions.api import ndjson
from backend.questions.api.deleting import deleted
from backend.questions.api.refused_parts import refused_parts
from backend.questions.bodies.batches import (
    QuestionBatchQuerySerializer,
    QuestionBatchRequestSerializer,
    QuestionBatchSerializer,
)
from backend.questions.bodies.questions import QuestionSerializer, QuestionUpdateRequestSerializer
from backend.questions.models import BatchStatus, QuestionBatch
from backend.questions.queries import batches as batch_queries
from backend.questions.queries import questions as question_queries
from backend.questions.services import batches, control, deletions
from backend.questions.services.shown import shown_views_of
from backend.tenancy.context import tenant_scope

TAGS = ["Question batches"]
RESULTS_PAGE = 100


def _batch(batch_id: str) -> QuestionBatch:
    return TenantView.get_or_404(batch_queries.batches(), decode("bat", batch_id))


def _body(batch: QuestionBatch) -> dict[str, Any]:
    return QuestionBatchSerializer(batch_queries.view_of(batch)).data


class BatchesView(TenantView):
    scopes = {"GET": "questions:read", "POST": "questions:write"}

    @extend_schema(
        operation_id="createQuestionBatch",
        tags=TAGS,
        request=QuestionBatchRequestSerializer,
        responses={202: QuestionBatchSerializer},
    )
    @idempotent()
    def post(self, request: Request) -> Response:
        """Ask up to 1,000 questions at once.

        All questions are asked, or none: if some are refused, `errors` points at each of them.
        """
        values = parsed(QuestionBatchRequestSerializer, request)
        try:
            batch = batches.create_batch(**values, api_key_id=self.principal.api_key_id)
        except batches.BatchRefused as refused:
            faults = [(f"/questions/{at}{fault.pointer or ''}", fault) for at, fault in refused.refusals.items()]
            raise refused_parts(faults) from None
        location = f"/v1/question-batches/{encode('bat', batch.id)}"
        return Response(_body(batch), status=202, headers={"Location": location})

    @extend_schema(
        operation_id="listQuestionBatches",
        tags=TAGS,
        parameters=[QuestionBatchQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("QuestionBatchPage", QuestionBatchSerializer),
    )
    def get(self, request: Request) -> Response:
        """List batches, newest first."""
        query, wish = list_query(QuestionBatchQuerySerializer, request)
        return page(
            request,
            wish.of(batch_queries.batches(**query)),
            serialize_many=lambda rows: listed(QuestionBatchSerializer, batch_queries.views_of(rows)),
            order=wish.order,
        )


class BatchView(SteppedTenantView):
    scopes = {"GET": "questions:read", "PATCH": "questions:write", "DELETE": "questions:write"}
    audited = {"DELETE": "question_batch.deleted"}
    stepped = frozenset({"DELETE"})

    @extend_schema(operation_id="getQuestionBatch", tags=TAGS, responses=QuestionBatchSerializer)
    def get(self, request: Request, batch_id: str) -> Response:
        """Get a batch: the number of its questions by status, and what they consumed and are charged so far."""
        return Response(_body(_batch(batch_id)))

    @extend_schema(
        operation_id="updateQuestionBatch",
        tags=TAGS,
        request=QuestionUpdateRequestSerializer,
        responses=QuestionBatchSerializer,
    )
    def patch(self, request: Request, batch_id: str) -> Response:
        """Change the priority or the deadline of the open questions of a batch."""
        batch = _batch(batch_id)
        changes = parsed(QuestionUpdateRequestSerializer, request)
        if batch.status != BatchStatus.RUNNING:
            raise Problem(409, "batch_over", "Every question of the batch has its outcome already.")
        control.update_questions(question_queries.questions(batch_id=batch.id), **changes)
        return Response(_body(_batch(batch_id)))

    @extend_schema(operation_id="deleteQuestionBatch", tags=TAGS, responses={204: None})
    def delete(self, request: Request, batch_id: str) -> Response:
        """Delete a batch with its questions and their answers. Open questions are canceled."""
        return deleted(self, Deleted.BATCH, batch_id, _batch, deletions.drop_batch)


class CancelBatchView(TenantView):
    scopes = {"POST": "questions:write"}

    @extend_schema(operation_id="cancelQuestionBatch", tags=TAGS, request=None, responses=QuestionBatchSerializer)
    @idempotent()
    def post(self, request: Request, batch_id: str) -> Response:
        """Cancel the open questions of a batch. Answers that are there stay."""
        batches.cancel_batch(batch_id=_batch(batch_id).id)
        batch = _batch(batch_id)
        if batch.status != BatchStatus.CANCELED:
            raise Problem(409, "batch_over", "Every question of the batch has its outcome already.")
        return Response(_body(batch))


class BatchResultsView(UnboundTenantView):
    scopes = {"GET": "questions:read"}
    renderer_classes = ndjson.RENDERERS

    @extend_schema(
        operation_id="listQuestionBatchResults",
        tags=TAGS,
        responses=ndjson.described(QuestionSerializer, "One question a line as JSON, in the batch's order."),
    )
    def get(self, request: Request, batch_id: str) -> HttpResponseBase:
        """List every question of a batch as it is now, one line each, in the batch's order."""
        tenant_id = self.principal.tenant_id
        with tenant_scope(tenant_id):
            batch = _batch(batch_id)
        return ndjson.lines_response(request, _pages(tenant_id, batch.id))


def _pages(tenant_id: UUID, batch_id: UUID) -> Iterator[list[dict[str, Any]]]:
    """Yield the questions' bodies, one page at a time. Each page is read in a transaction of its own."""
    after: int | None = -1
    while True:
        with tenant_scope(tenant_id):
            later = question_queries.questions(batch_id=batch_id).filter(batch_position__gt=after)
            rows = list(later.order_by("batch_position")[:RESULTS_PAGE])
            bodies = listed(QuestionSerializer, shown_views_of(rows))
        if not rows:
            return
        yield bodies
        after = rows[-1].batch_position


routes: list[Any] = [
    path("question-batches", BatchesView.as_view()),
    path("question-batches/<str:batch_id>", BatchView.as_view()),
    path("question-batches/<str:batch_id>/cancel", CancelBatchView.as_view()),
    path("question-batches/<str:batch_id>/results", BatchResultsView.as_view()),
]
