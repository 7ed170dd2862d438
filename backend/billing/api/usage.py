"""GET /v1/usage and /v1/usage/events: what was consumed, and what it is charged, as JSON and as CSV."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponseBase
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import listed, page_of, parsed_query
from backend.api.pagination import PAGE_PARAMETERS, offset_page, page
from backend.api.public_ids import decode
from backend.api.views import TenantView
from backend.billing import queries
from backend.billing.api.csv import MOST_LINES, CsvRenderer, event_pages, rows_response, usage_rows
from backend.billing.bodies.usage import (
    UsageEventQuerySerializer,
    UsageEventSerializer,
    UsageQuerySerializer,
    UsageSerializer,
)
from backend.billing.queries.usage import usage
from backend.tenancy.refusals import invalid

TAGS = ["Usage"]
CSV = {(200, CsvRenderer.media_type): OpenApiTypes.STR}


class UsageView(TenantView):
    scopes = {"GET": "usage:read"}
    renderer_classes = [JSONRenderer, CsvRenderer]

    @extend_schema(
        operation_id="getUsage",
        tags=TAGS,
        parameters=[UsageQuerySerializer, *PAGE_PARAMETERS],
        responses={(200, "application/json"): UsageSerializer, **CSV},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Get the usage of a span of time, summed up by groups and meters, with its charge.

        The lines come in pages, in the order of their groups. The totals are those of all pages. With `Accept:
        text/csv` all lines come at once, at most 50,000.
        """
        query = parsed_query(UsageQuerySerializer, request)
        if request.accepted_renderer.format != CsvRenderer.format:
            offset, limit = offset_page(request)
            return Response(UsageSerializer(usage(**query, offset=offset, limit=limit)).data)
        whole = usage(**query, limit=MOST_LINES)
        if whole.next_offset is not None:
            detail = f"This is more than {MOST_LINES} lines. Give a shorter span, or group by less."
            raise invalid(pointer="/group_by", code="too_many_lines", detail=detail)
        return rows_response("usage.csv", iter([usage_rows(whole)]))


class UsageEventsView(TenantView):
    scopes = {"GET": "usage:read"}
    renderer_classes = [JSONRenderer, CsvRenderer]

    @extend_schema(
        operation_id="listUsageEvents",
        tags=TAGS,
        parameters=[UsageEventQuerySerializer, *PAGE_PARAMETERS],
        responses={
            (200, "application/json"): page_of("UsageEventPage", UsageEventSerializer),
            **CSV,
        },
    )
    def get(self, request: Request) -> HttpResponseBase:
        """List the rows of the usage ledger, newest first.

        With `Accept: text/csv` all rows of the span come in one reply, without pages.
        """
        query = parsed_query(UsageEventQuerySerializer, request)
        if request.accepted_renderer.format == CsvRenderer.format:
            return rows_response("usage-events.csv", event_pages(self.principal.tenant_id, query))
        rows = queries.events(**query)
        return page(request, rows, serialize_many=lambda rows: listed(UsageEventSerializer, rows))


class UsageEventView(TenantView):
    scopes = {"GET": "usage:read"}

    @extend_schema(operation_id="getUsageEvent", tags=TAGS, responses=UsageEventSerializer)
    def get(self, request: Request, usage_event_id: str) -> Response:
        """Get one row of the usage ledger."""
        event_id = decode("use", usage_event_id)
        return Response(UsageEventSerializer(self.get_or_404(queries.event(event_id), event_id)).data)


routes: list[Any] = [
    path("usage", UsageView.as_view()),
    path("usage/events", UsageEventsView.as_view()),
    path("usage/events/<str:usage_event_id>", UsageEventView.as_view()),
]
