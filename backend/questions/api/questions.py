"""/v1/questions: ask, read, list, cancel, stream."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponseBase
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import listed, page_of, parsed
from backend.api.idempotency import idempotent
from backend.api.listing import list_query
from backend.api.pagination import NEWEST_FIRST, PAGE_PARAMETERS, page
from backend.api.problems import Problem
from backend.api.public_ids import decode, encode
from backend.api.server.awaiting import EventStream
from backend.api.server.event_streams import EventStreamRenderer, stream_response
from backend.api.server.open_replies import open_reply
from backend.api.views import SteppedTenantView, TenantView, UnboundTenantView
from backend.library.services.deletion_ledger import Deleted
from backend.questions import stream
from backend.questions.api.deleting import deleted
from backend.questions.bodies.nodes import NodeSerializer
from backend.questions.bodies.questions import (
    PartialEventSerializer,
    ProgressEventSerializer,
    QuestionQuerySerializer,
    QuestionRequestSerializer,
    QuestionSerializer,
    QuestionUpdateRequestSerializer,
)
from backend.questions.models import OPEN, Question, QuestionStatus
from backend.questions.queries import questions as question_queries
from backend.questions.services import control, deletions, questions
from backend.questions.services.shown import shown_views_of
from backend.questions.waiting import LONGEST_WAIT_SECONDS, waits_for_outcome
from backend.tenancy.context import tenant_scope

TAGS = ["Questions"]
INCLUDE = OpenApiParameter(
    "include", str, enum=["trace"], description="`trace` adds the search tree with its candidates and scores."
)
PREFER = OpenApiParameter(
    "Prefer",
    str,
    OpenApiParameter.HEADER,
    description=f"`wait=N` waits up to N seconds for the outcome, at most {LONGEST_WAIT_SECONDS}.",
)


def wants_trace(request: Request) -> bool:
    return "trace" in request.query_params.get("include", "").split(",")


def question_or_404(question_id: str) -> Question:
    """Return the question with this public id. Raises the 404 Problem."""
    return TenantView.get_or_404(question_queries.questions(), decode("qst", question_id))


def _body(question: Question, *, trace: bool = False) -> dict[str, Any]:
    return QuestionSerializer(shown_views_of([question], trace=trace)[0]).data


class QuestionsView(UnboundTenantView):
    scopes = {"GET": "questions:read", "POST": "questions:write"}

    @extend_schema(
        operation_id="createQuestion",
        tags=TAGS,
        request=QuestionRequestSerializer,
        parameters=[PREFER, INCLUDE],
        responses={200: QuestionSerializer, 202: QuestionSerializer},
    )
    @waits_for_outcome()
    @idempotent()
    def post(self, request: Request) -> Response:
        """Ask a question.

        The reply is 202 while the question is open. With `Prefer: wait=N` the request waits for the outcome; the reply
        is 200 if the question has one in time.
        """
        values = parsed(QuestionRequestSerializer, request)
        question = questions.create_question(**values, api_key_id=self.principal.api_key_id)
        return Response(_body(question), status=202, headers={"Location": _location(question.id)})

    def is_over(self, id: str) -> bool:
        return question_queries.is_over(decode("qst", id))

    def present(self, request: Request, id: str) -> dict[str, Any]:
        return _body(question_or_404(id), trace=wants_trace(request))

    @extend_schema(
        operation_id="listQuestions",
        tags=TAGS,
        parameters=[QuestionQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("QuestionPage", QuestionSerializer),
    )
    def get(self, request: Request) -> Response:
        """List questions, newest first; by default the questions of a batch in the batch's order."""
        query, wish = list_query(QuestionQuerySerializer, request)
        usual = ("batch_position",) if "batch_id" in query else NEWEST_FIRST
        with tenant_scope(self.principal.tenant_id):
            return page(
                request,
                wish.of(question_queries.questions(**query)),
                serialize_many=lambda rows: listed(QuestionSerializer, shown_views_of(rows)),
                order=wish.order or usual,
            )


class QuestionView(SteppedTenantView):
    scopes = {"GET": "questions:read", "PATCH": "questions:write", "DELETE": "questions:write"}
    audited = {"DELETE": "question.deleted"}
    stepped = frozenset({"DELETE"})

    @extend_schema(operation_id="getQuestion", tags=TAGS, parameters=[INCLUDE], responses=QuestionSerializer)
    def get(self, request: Request, question_id: str) -> Response:
        """Get a question with its answer, evidence, usage, charge and timings as far as there are any."""
        return Response(_body(question_or_404(question_id), trace=wants_trace(request)))

    @extend_schema(
        operation_id="updateQuestion", tags=TAGS, request=QuestionUpdateRequestSerializer, responses=QuestionSerializer
    )
    def patch(self, request: Request, question_id: str) -> Response:
        """Change the priority or the deadline of an open question."""
        question = question_or_404(question_id)
        changes = parsed(QuestionUpdateRequestSerializer, request)
        if question.status not in OPEN:
            raise Problem(409, "question_over", "The question has its outcome already.")
        control.update_questions(question_queries.questions().filter(id=question.id), **changes)
        return Response(_body(question_or_404(question_id)))

    @extend_schema(operation_id="deleteQuestion", tags=TAGS, responses={204: None})
    def delete(self, request: Request, question_id: str) -> Response:
        """Delete a question with its answer, evidence and pictures. A question without an outcome is canceled.

        What it was charged stays in the usage.
        """
        return deleted(
            self, Deleted.QUESTION, question_id, question_or_404, lambda id: deletions.delete_question(question_id=id)
        )


class CancelQuestionView(TenantView):
    scopes = {"POST": "questions:write"}

    @extend_schema(operation_id="cancelQuestion", tags=TAGS, request=None, responses=QuestionSerializer)
    @idempotent()
    def post(self, request: Request, question_id: str) -> Response:
        """Cancel an open question. A question that was canceled before stays canceled."""
        question = question_or_404(question_id)
        canceled = questions.cancel_question(question_id=question.id)
        question = canceled or question_or_404(question_id)
        if question.status == QuestionStatus.SUCCEEDED:
            raise Problem(409, "question_over", "The question has its answer already, so it cannot be canceled.")
        if question.status == QuestionStatus.FAILED:
            raise Problem(409, "question_over", "The question has failed already, so it cannot be canceled.")
        return Response(_body(question))


class StreamQuestionView(UnboundTenantView):
    scopes = {"GET": "questions:read"}
    renderer_classes = (EventStreamRenderer, JSONRenderer)

    @extend_schema(
        operation_id="streamQuestion",
        tags=TAGS,
        responses=stream_response(
            "Server-sent events with JSON data: `progress` and `partial` whenever they change, each `node` of "
            "the search once it is there, then `answer` with the question.",
            PolymorphicProxySerializer(
                component_name="QuestionStreamData",
                serializers=[ProgressEventSerializer, PartialEventSerializer, NodeSerializer, QuestionSerializer],
                resource_type_field_name=None,
            ),
        ),
    )
    def get(self, request: Request, question_id: str) -> HttpResponseBase:
        """Stream the progress of a question, its best answer so far and the nodes of its search, then the answer.

        The stream ends with the question's outcome, or after 15 minutes: connect again to go on. Each node has an id.
        Send the last one in `Last-Event-ID`, and the stream goes on after that node.
        """
        tenant_id = self.principal.tenant_id
        with tenant_scope(tenant_id):
            question = question_or_404(question_id)
        after = request.headers.get("Last-Event-ID", "")
        events = stream.QuestionEvents(tenant_id=tenant_id, question_id=question.id, after=after)
        return EventStream(events, open_reply(self.principal))


def _location(question_id: UUID) -> str:
    return f"/v1/questions/{encode('qst', question_id)}"


routes: list[Any] = [
    path("questions", QuestionsView.as_view()),
    path("questions/<str:question_id>", QuestionView.as_view()),
    path("questions/<str:question_id>/cancel", CancelQuestionView.as_view()),
    path("questions/<str:question_id>/stream", StreamQuestionView.as_view()),
]
