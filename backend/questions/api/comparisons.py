"""/v1/comparisons: ask your own questions with several methods, follow them, fetch figures and results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
from backend.api.public_ids import decode, encode
from backend.api.views import SteppedTenantView, TenantView, UnboundTenantView
from backend.library.services.deletion_ledger import Deleted
from backend.questions.api import ndjson
from backend.questions.api.deleting import deleted
from backend.questions.api.refused_parts import refused_parts
from backend.questions.bodies.comparison_figures import ComparisonResultSerializer
from backend.questions.bodies.comparisons import (
    ComparisonQuerySerializer,
    ComparisonRequestSerializer,
    ComparisonSerializer,
)
from backend.questions.models import Comparison
from backend.questions.queries import comparisons as comparison_queries
from backend.questions.queries.comparison_results import report_of, results_of
from backend.questions.services import comparison_outcomes, comparisons, deletions
from backend.questions.services.comparison_drafts import ComparisonRefused
from backend.questions.services.grading import grading_charge
from backend.tenancy.context import tenant_scope

TAGS = ["Comparisons"]
RESULTS_PAGE = 25
"""Items whose results are read at once."""


def _comparison(comparison_id: str) -> Comparison:
    return TenantView.get_or_404(comparison_queries.comparisons(), decode("cmp", comparison_id))


def _body(comparison: Comparison) -> dict[str, Any]:
    return ComparisonSerializer(comparison_queries.view_of(comparison)).data


def _body_with_report(comparison: Comparison) -> dict[str, Any]:
    view = replace(
        comparison_queries.view_of(comparison),
        report=report_of(comparison),
        grading_charge=grading_charge(comparison.id),
    )
    return ComparisonSerializer(view).data


class ComparisonsView(TenantView):
    scopes = {"GET": "questions:read", "POST": "questions:write"}

    @extend_schema(
        operation_id="createComparison",
        tags=TAGS,
        request=ComparisonRequestSerializer,
        responses={202: ComparisonSerializer},
    )
    @idempotent()
    def post(self, request: Request) -> Response:
        """Compare arms on your own questions.

        Every arm is asked every question, over the index that the videos have now. All questions are asked, or none:
        if something is not valid, `errors` points at each fault. Each question is billed as any other.
        """
        values = parsed(ComparisonRequestSerializer, request)
        try:
            comparison = comparisons.create_comparison(**values, api_key_id=self.principal.api_key_id)
        except ComparisonRefused as refused:
            raise refused_parts([(fault.pointer or "", fault) for fault in refused.faults]) from None
        location = f"/v1/comparisons/{encode('cmp', comparison.id)}"
        return Response(_body(comparison), status=202, headers={"Location": location})

    @extend_schema(
        operation_id="listComparisons",
        tags=TAGS,
        parameters=[ComparisonQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("ComparisonPage", ComparisonSerializer),
    )
    def get(self, request: Request) -> Response:
        """List comparisons, newest first."""
        query, wish = list_query(ComparisonQuerySerializer, request)
        return page(
            request,
            wish.of(comparison_queries.comparisons(**query)),
            serialize_many=lambda rows: listed(ComparisonSerializer, comparison_queries.views_of(rows)),
            order=wish.order,
        )


class ComparisonView(SteppedTenantView):
    scopes = {"GET": "questions:read", "DELETE": "questions:write"}
    audited = {"DELETE": "comparison.deleted"}
    stepped = frozenset({"DELETE"})

    @extend_schema(operation_id="getComparison", tags=TAGS, responses=ComparisonSerializer)
    def get(self, request: Request, comparison_id: str) -> Response:
        """Get a comparison: how far it is, and the figures of every arm and pair so far."""
        return Response(_body_with_report(_comparison(comparison_id)))

    @extend_schema(operation_id="deleteComparison", tags=TAGS, responses={204: None})
    def delete(self, request: Request, comparison_id: str) -> Response:
        """Delete a comparison that is over, with its items, questions and grades."""
        return deleted(
            self,
            Deleted.COMPARISON,
            comparison_id,
            _comparison,
            lambda id: deletions.delete_comparison(comparison_id=id),
        )


class CancelComparisonView(TenantView):
    scopes = {"POST": "questions:write"}

    @extend_schema(operation_id="cancelComparison", tags=TAGS, request=None, responses=ComparisonSerializer)
    @idempotent()
    def post(self, request: Request, comparison_id: str) -> Response:
        """Cancel the open questions of a comparison, or its grading. Answers and grades that are there stay."""
        comparison_outcomes.cancel_comparison(comparison_id=_comparison(comparison_id).id)
        comparison = _comparison(comparison_id)
        comparison_outcomes.refused_if_over(comparison)
        return Response(_body(comparison))


class ComparisonResultsView(UnboundTenantView):
    scopes = {"GET": "questions:read"}
    renderer_classes = ndjson.RENDERERS

    @extend_schema(
        operation_id="listComparisonResults",
        tags=TAGS,
        responses=ndjson.described(
            ComparisonResultSerializer, "One question a line as JSON with the answers of every arm, in your order."
        ),
    )
    def get(self, request: Request, comparison_id: str) -> HttpResponseBase:
        """List every question of a comparison with the answers of every arm as they are now, one line each."""
        tenant_id = self.principal.tenant_id
        with tenant_scope(tenant_id):
            comparison = _comparison(comparison_id)
        return ndjson.lines_response(request, _pages(tenant_id, comparison))


def _pages(tenant_id: UUID, comparison: Comparison) -> Iterator[list[dict[str, Any]]]:
    """Yield the results of a page of items at a time. Each page is read in a transaction of its own."""
    after = -1
    while True:
        with tenant_scope(tenant_id):
            items = comparison_queries.page_of_items(comparison.id, after=after, size=RESULTS_PAGE)
            bodies = listed(ComparisonResultSerializer, results_of(comparison, items))
        if not items:
            return
        yield bodies
        after = items[-1].position


routes: list[Any] = [
    path("comparisons", ComparisonsView.as_view()),
    path("comparisons/<str:comparison_id>", ComparisonView.as_view()),
    path("comparisons/<str:comparison_id>/cancel", CancelComparisonView.as_view()),
    path("comparisons/<str:comparison_id>/results", ComparisonResultsView.as_view()),
]
