"""POST /v1/questions:estimate."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import StrictSerializer, parsed
from backend.api.views import TenantView
from backend.billing.bodies.estimates import EstimateSerializer, estimate_body
from backend.billing.rates import money
from backend.questions.bodies.questions import EFFORT_HELP, METHOD_HELP, METHODS
from backend.questions.services.estimates import estimate_question
from gpu_workers.engine.answering.contract import EFFORTS


class QuestionEstimateRequestSerializer(StrictSerializer):
    """What decides the charge and the duration of a question."""

    method = serializers.ChoiceField(METHODS, default="ava", help_text=METHOD_HELP)
    effort = serializers.ChoiceField(EFFORTS, default="medium", help_text=EFFORT_HELP)


class QuestionEstimateView(TenantView):
    scopes = {"POST": "questions:read"}

    @extend_schema(
        operation_id="estimateQuestion",
        tags=["Questions"],
        request=QuestionEstimateRequestSerializer,
        responses=EstimateSerializer,
    )
    def post(self, request: Request) -> Response:
        """Estimate the charge and the duration of a question. Nothing is asked and nothing is reserved."""
        found = estimate_question(**parsed(QuestionEstimateRequestSerializer, request))
        return Response(estimate_body(found.charge, currency=found.currency, duration=found.duration, exact=money))


routes: list[Any] = [path("questions:estimate", QuestionEstimateView.as_view())]
