"""/v1/questions/{id}/report: an answer with its evidence as one page, to keep and to hand on."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from backend.api.bodies import StrictSerializer, parsed_query
from backend.api.files import AnyFile
from backend.api.views import UnboundTenantView
from backend.questions.api.questions import TAGS, question_or_404
from backend.questions.report.contents import contents_of
from backend.questions.report.page import as_html, as_pdf
from backend.tenancy.context import tenant_scope

_KINDS = {"html": "text/html", "pdf": "application/pdf"}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; base-uri 'none'"
"""Content policy of the page: it needs nothing but itself, and no script may run in it."""


class ReportQuerySerializer(StrictSerializer):
    format = serializers.ChoiceField(
        tuple(_KINDS), default="html", help_text="`html` is one page with everything inside; `pdf` is the same page."
    )


class QuestionReportView(UnboundTenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": "questions:read"}
    renderer_classes = (JSONRenderer, AnyFile)
    # A report costs nothing, and its pictures and its PDF take work.
    free = True

    @extend_schema(
        operation_id="getQuestionReport",
        tags=TAGS,
        parameters=[ReportQuerySerializer],
        responses={
            (200, "text/html"): OpenApiResponse(OpenApiTypes.STR, "The page, as HTML or as tagged PDF."),
            (200, "application/pdf"): OpenApiResponse(OpenApiTypes.BINARY, "The page, as HTML or as tagged PDF."),
        },
    )
    def get(self, request: Request, question_id: str) -> HttpResponse:
        """Get an answer as a report: claims, evidence with pictures and times, scope, method, cost and what is missing.

        The page holds its pictures and needs no network, so it can be kept and handed on.
        """
        form: str = parsed_query(ReportQuerySerializer, request)["format"]
        with tenant_scope(self.principal.tenant_id):
            contents = contents_of(question_or_404(question_id))
        html = as_html(contents)
        headers = {
            "Cache-Control": "no-store",
            "Content-Disposition": f'inline; filename="report-{contents.id}.{form}"',
            "Content-Security-Policy": _POLICY,
        }
        content = as_pdf(html) if form == "pdf" else html
        kind = _KINDS[form] if form == "pdf" else f"{_KINDS[form]}; charset=utf-8"
        return HttpResponse(content, content_type=kind, headers=headers)


routes: list[Any] = [path("questions/<str:question_id>/report", QuestionReportView.as_view())]
