"""POST /v1/questions:estimate."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import parsed
from backend.api.views import TenantView
from backend.questions.bodies.estimates import (
    QuestionEstimateRequestSerializer,
    QuestionEstimateSerializer,
    question_estimate_body,
)
from backend.questions.services.estimates import estimate_question


class QuestionEstimateView(TenantView):
    scopes = {"POST": "questions:read"}
    free = True

    @extend_schema(
        operation_id="estimateQuestion",
        tags=["Questions"],
        request=QuestionEstimateRequestSerializer,
        responses=QuestionEstimateSerializer,
    )
    def post(self, request: Request) -> Response:
        """Estimate the charge and the duration of a question. Nothing is asked and nothing is reserved."""
        found = estimate_question(**parsed(QuestionEstimateRequestSerializer, request))
        return Response(question_estimate_body(found))


routes: list[Any] = [path("questions:estimate", QuestionEstimateView.as_view())]
