"""GET /v1/prices: what the tenant pays."""

from __future__ import annotations

from typing import Any

from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import parsed_query
from backend.api.views import TenantView
from backend.billing import terms
from backend.billing.bodies.prices import PriceListQuerySerializer, PriceListSerializer


class PricesView(TenantView):
    scopes = {"GET": "usage:read"}

    @extend_schema(
        operation_id="getPrices", tags=["Usage"], parameters=[PriceListQuerySerializer], responses=PriceListSerializer
    )
    def get(self, request: Request) -> Response:
        """Get the prices, allowances and tiers that apply to the tenant."""
        at = parsed_query(PriceListQuerySerializer, request).get("at") or timezone.now()
        return Response(PriceListSerializer(terms.price_list(at)).data)


routes: list[Any] = [path("prices", PricesView.as_view())]
