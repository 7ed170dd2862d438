"""/v1/questions/{id}/feedback: whether an answer was right."""

from __future__ import annotations

from typing import Any, ClassVar

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api import public_ids
from backend.api.bodies import StrictSerializer, parsed
from backend.api.problems import not_found
from backend.api.views import TenantView
from backend.questions.bodies.questions import FeedbackSerializer, represent_feedback
from backend.questions.models import Question
from backend.questions.queries import questions as queries
from backend.questions.services import feedback
from backend.questions.services.questions import MAX_CHOICES


class NewFeedbackSerializer(StrictSerializer):
    verdict = serializers.ChoiceField(feedback.VERDICTS)
    note = serializers.CharField(max_length=4_000, required=False, allow_blank=True, default="")
    correct_answer = serializers.CharField(max_length=4_000, required=False, allow_blank=True, default="")
    correct_choice = serializers.IntegerField(
        min_value=0, max_value=MAX_CHOICES - 1, required=False, allow_null=True, help_text="Index into choices."
    )


class FeedbackView(TenantView):
    scopes: ClassVar[dict[str, str]] = {
        "GET": "questions:read",
        "PUT": "questions:write",
        "DELETE": "questions:write",
    }

    @extend_schema(operation_id="feedback_get", responses=FeedbackSerializer)
    def get(self, request: Request, question_id: str) -> Response:
        """What was said of the answer; 404 if nothing was."""
        question = self._question(question_id)
        given = queries.feedback_of([question.id]).get(question.id)
        if given is None:
            raise not_found()
        return Response(represent_feedback(given))

    @extend_schema(operation_id="feedback_put", request=NewFeedbackSerializer, responses=FeedbackSerializer)
    def put(self, request: Request, question_id: str) -> Response:
        """Say whether the answer was right, and what would have been; takes the place of what was said before."""
        question = self._question(question_id)
        said = parsed(NewFeedbackSerializer, request)
        given = feedback.give_feedback(question=question, **said, api_key_id=self.principal.api_key_id)
        return Response(represent_feedback(given))

    @extend_schema(operation_id="feedback_delete", responses={204: None})
    def delete(self, request: Request, question_id: str) -> Response:
        """Take back what was said of the answer."""
        if not feedback.withdraw_feedback(question_id=self._question(question_id).id):
            raise not_found()
        return Response(status=204)

    def _question(self, question_id: str) -> Question:
        return self.get_or_404(queries.questions(), public_ids.decode("qst", question_id))


routes: list[Any] = [path("questions/<str:question_id>/feedback", FeedbackView.as_view(), name="question-feedback")]
