"""/v1/questions/{question_id}/trace: the search tree of a question as lines, to learn from."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponseBase
from django.urls import path
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request

from backend.api.views import UnboundTenantView
from backend.questions.api import ndjson
from backend.questions.api.questions import question_or_404
from backend.questions.bodies.traces import TraceNodeSerializer, TraceOutcomeSerializer, trace_lines
from backend.questions.queries.questions import view_of
from backend.tenancy.context import tenant_scope


class QuestionTraceView(UnboundTenantView):
    scopes = {"GET": "questions:read"}
    renderer_classes = ndjson.RENDERERS

    @extend_schema(
        operation_id="exportQuestionTrace",
        tags=["Questions"],
        responses=ndjson.described(
            PolymorphicProxySerializer(
                component_name="QuestionTraceLine",
                serializers=[TraceOutcomeSerializer, TraceNodeSerializer],
                resource_type_field_name=None,
            ),
            "JSON lines: the outcome of the question with your feedback, then each node of the search.",
        ),
    )
    def get(self, request: Request, question_id: str) -> HttpResponseBase:
        """Export the search tree of a question with its outcome and your feedback, one line each.

        Every line names its question, so lines of many questions can be joined into one file.
        """
        with tenant_scope(self.principal.tenant_id):
            lines = list(trace_lines(view_of(question_or_404(question_id), trace=True)))
        return ndjson.lines_response(request, iter([lines]))


routes: list[Any] = [path("questions/<str:question_id>/trace", QuestionTraceView.as_view())]
