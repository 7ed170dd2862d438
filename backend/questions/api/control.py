"""Pause, resume and retry of /v1/questions and /v1/question-batches, and cancel and retry of /v1/searches."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.idempotency import idempotent
from backend.api.problems import Problem
from backend.api.public_ids import decode
from backend.api.views import TenantView
from backend.questions.api.questions import question_or_404
from backend.questions.bodies.batches import QuestionBatchSerializer
from backend.questions.bodies.questions import QuestionSerializer
from backend.questions.bodies.searches import SearchSerializer
from backend.questions.models import BatchStatus, Question, QuestionBatch, QuestionStatus, Search
from backend.questions.queries import batches as batch_queries
from backend.questions.queries import questions as question_queries
from backend.questions.queries import searches as search_queries
from backend.questions.services import control, searches
from backend.questions.services.shown import shown_views_of

WRITE = {"POST": "questions:write"}


class _QuestionControl(TenantView):
    scopes = WRITE

    def _open(self, question_id: str) -> Question:
        question = question_or_404(question_id)
        if question_queries.is_over(question.id):
            raise Problem(409, "question_over", "The question has its outcome already.")
        return question

    def _body(self, question_id: str) -> Response:
        question = question_or_404(question_id)
        return Response(QuestionSerializer(shown_views_of([question])[0]).data)


class PauseQuestionView(_QuestionControl):
    @extend_schema(operation_id="pauseQuestion", tags=["Questions"], request=None, responses=QuestionSerializer)
    @idempotent()
    def post(self, request: Request, question_id: str) -> Response:
        """Keep a question from being begun. A question that is being answered goes on."""
        control.pause_questions(Question.objects.filter(id=self._open(question_id).id))
        return self._body(question_id)


class ResumeQuestionView(_QuestionControl):
    @extend_schema(operation_id="resumeQuestion", tags=["Questions"], request=None, responses=QuestionSerializer)
    @idempotent()
    def post(self, request: Request, question_id: str) -> Response:
        """Let a paused question be answered. Its deadline moves by the length of the pause."""
        control.resume_questions(Question.objects.filter(id=self._open(question_id).id))
        return self._body(question_id)


class RetryQuestionView(_QuestionControl):
    @extend_schema(operation_id="retryQuestion", tags=["Questions"], request=None, responses={202: QuestionSerializer})
    @idempotent()
    def post(self, request: Request, question_id: str) -> Response:
        """Ask a question again that failed or was canceled and is not charged, with the same id. It is billed once."""
        control.retry_question(question_id=question_or_404(question_id).id)
        response = self._body(question_id)
        response.status_code = 202
        return response


class _BatchControl(TenantView):
    scopes = WRITE

    def _batch(self, batch_id: str) -> QuestionBatch:
        return self.get_or_404(batch_queries.batches(), decode("bat", batch_id))

    def _questions(self, batch_id: str) -> Any:
        batch = self._batch(batch_id)
        if batch.status != BatchStatus.RUNNING:
            raise Problem(409, "batch_over", "Every question of the batch has its outcome already.")
        return Question.objects.filter(batch_id=batch.id)

    def _body(self, batch_id: str) -> Response:
        return Response(QuestionBatchSerializer(batch_queries.view_of(self._batch(batch_id))).data)


class PauseBatchView(_BatchControl):
    @extend_schema(
        operation_id="pauseQuestionBatch", tags=["Question batches"], request=None, responses=QuestionBatchSerializer
    )
    @idempotent()
    def post(self, request: Request, batch_id: str) -> Response:
        """Keep the open questions of a batch from being begun. Questions that are being answered go on."""
        control.pause_questions(self._questions(batch_id))
        return self._body(batch_id)


class ResumeBatchView(_BatchControl):
    @extend_schema(
        operation_id="resumeQuestionBatch", tags=["Question batches"], request=None, responses=QuestionBatchSerializer
    )
    @idempotent()
    def post(self, request: Request, batch_id: str) -> Response:
        """Let the paused questions of a batch be answered."""
        control.resume_questions(self._questions(batch_id))
        return self._body(batch_id)


class RetryBatchView(_BatchControl):
    @extend_schema(
        operation_id="retryQuestionBatch",
        tags=["Question batches"],
        request=None,
        responses={202: QuestionBatchSerializer},
    )
    @idempotent()
    def post(self, request: Request, batch_id: str) -> Response:
        """Ask the questions of a batch again that failed. A completed batch runs again."""
        control.retry_batch(batch_id=self._batch(batch_id).id)
        response = self._body(batch_id)
        response.status_code = 202
        return response


class _SearchControl(TenantView):
    scopes = WRITE

    def _search(self, search_id: str) -> Search:
        return self.get_or_404(search_queries.searches(), decode("sea", search_id))

    def _body(self, search_id: str) -> Response:
        return Response(SearchSerializer(search_queries.view_of(self._search(search_id))).data)


class CancelSearchView(_SearchControl):
    @extend_schema(operation_id="cancelSearch", tags=["Searches"], request=None, responses=SearchSerializer)
    @idempotent()
    def post(self, request: Request, search_id: str) -> Response:
        """Cancel an open search. A search that was canceled before stays canceled."""
        search = self._search(search_id)
        canceled = searches.cancel_search(search_id=search.id)
        if canceled is None and self._search(search_id).status != QuestionStatus.CANCELED:
            raise Problem(409, "search_over", "The search has its outcome already.")
        return self._body(search_id)


class RetrySearchView(_SearchControl):
    @extend_schema(operation_id="retrySearch", tags=["Searches"], request=None, responses={202: SearchSerializer})
    @idempotent()
    def post(self, request: Request, search_id: str) -> Response:
        """Run a search again that failed or was canceled, with the same id."""
        searches.retry_search(search_id=self._search(search_id).id)
        response = self._body(search_id)
        response.status_code = 202
        return response


routes: list[Any] = [
    path("questions/<str:question_id>/pause", PauseQuestionView.as_view()),
    path("questions/<str:question_id>/resume", ResumeQuestionView.as_view()),
    path("questions/<str:question_id>/retry", RetryQuestionView.as_view()),
    path("question-batches/<str:batch_id>/pause", PauseBatchView.as_view()),
    path("question-batches/<str:batch_id>/resume", ResumeBatchView.as_view()),
    path("question-batches/<str:batch_id>/retry", RetryBatchView.as_view()),
    path("searches/<str:search_id>/cancel", CancelSearchView.as_view()),
    path("searches/<str:search_id>/retry", RetrySearchView.as_view()),
]
