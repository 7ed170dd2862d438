"""/v1/questions/{id}/feedback: whether an answer was right."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import parsed
from backend.api.problems import not_found
from backend.api.views import TenantView
from backend.questions.api.questions import question_or_404
from backend.questions.bodies.feedback import FeedbackRequestSerializer, FeedbackSerializer
from backend.questions.queries.questions import feedback_of
from backend.questions.services import feedback

TAGS = ["Feedback"]


class FeedbackView(TenantView):
    scopes = {"GET": "questions:read", "PUT": "questions:write", "DELETE": "questions:write"}

    @extend_schema(operation_id="getFeedback", tags=TAGS, responses=FeedbackSerializer)
    def get(self, request: Request, question_id: str) -> Response:
        """Get your feedback on an answer; 404 if there is none."""
        question = question_or_404(question_id)
        row = feedback_of([question.id]).get(question.id)
        if row is None:
            raise not_found()
        return Response(FeedbackSerializer(row).data)

    @extend_schema(
        operation_id="putFeedback", tags=TAGS, request=FeedbackRequestSerializer, responses=FeedbackSerializer
    )
    def put(self, request: Request, question_id: str) -> Response:
        """Record whether an answer was right, and the right answer if it was not; replaces earlier feedback."""
        question = question_or_404(question_id)
        values = parsed(FeedbackRequestSerializer, request)
        row = feedback.give_feedback(
            question=question,
            **values,
            api_key_id=self.principal.api_key_id,
            person_id=self.principal.person_id,
        )
        return Response(FeedbackSerializer(row).data)

    @extend_schema(operation_id="deleteFeedback", tags=TAGS, responses={204: None})
    def delete(self, request: Request, question_id: str) -> Response:
        """Delete your feedback on an answer."""
        if not feedback.withdraw_feedback(question_id=question_or_404(question_id).id):
            raise not_found()
        return Response(status=204)


routes: list[Any] = [path("questions/<str:question_id>/feedback", FeedbackView.as_view())]
