"""GET /v1/usage and /v1/usage/events: what was consumed, what it cost and what it is priced at."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import listed, page_of, parsed_query
from backend.api.pagination import PAGE_PARAMETERS, offset_page, page
from backend.api.views import TenantView
from backend.billing import queries
from backend.billing.bodies.usage import (
    UsageEventQuerySerializer,
    UsageEventSerializer,
    UsageQuerySerializer,
    UsageSerializer,
)

TAGS = ["Usage"]


class UsageView(TenantView):
    scopes = {"GET": "usage:read"}

    @extend_schema(
        operation_id="getUsage",
        tags=TAGS,
        parameters=[UsageQuerySerializer, *PAGE_PARAMETERS],
        responses=UsageSerializer,
    )
    def get(self, request: Request) -> Response:
        """Get the usage of a span of time, summed up by groups and meters, with its cost and price.

        The lines come in pages, in the order of their groups. The totals are those of all pages.
        """
        offset, limit = offset_page(request)
        usage = queries.usage(**parsed_query(UsageQuerySerializer, request), offset=offset, limit=limit)
        return Response(UsageSerializer(usage).data)


class UsageEventsView(TenantView):
    scopes = {"GET": "usage:read"}

    @extend_schema(
        operation_id="listUsageEvents",
        tags=TAGS,
        parameters=[UsageEventQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("UsageEventPage", UsageEventSerializer),
    )
    def get(self, request: Request) -> Response:
        """List the rows of the usage ledger, newest first."""
        rows = queries.events(**parsed_query(UsageEventQuerySerializer, request))
        return page(request, rows, serialize_many=lambda rows: listed(UsageEventSerializer, rows))


routes: list[Any] = [
    path("usage", UsageView.as_view()),
    path("usage/events", UsageEventsView.as_view()),
]
