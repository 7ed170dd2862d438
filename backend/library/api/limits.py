"""GET /v1/limits: what the caller may consume, and what is left of it."""

from __future__ import annotations

from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.views import TenantView
from backend.billing.rates import rates_at
from backend.library.bodies.limits import LimitsSerializer
from backend.library.services.limits import limits_of
from backend.tenancy.models import Tenant
from backend.tenancy.months import month_of


class LimitsView(TenantView):
    scopes = {"GET": "usage:read"}

    @extend_schema(operation_id="getLimits", tags=["Budget"], responses=LimitsSerializer)
    def get(self, request: Request) -> Response:
        """Get every limit that holds for you: of the plan, of the tenant's budget and of your key's budget."""
        now = timezone.now()
        start, end = month_of(now)
        body = {
            "object": "limits",
            "plan": Tenant.objects.values_list("plan", flat=True).get(id=self.principal.tenant_id),
            "currency": rates_at(now).currency,
            "start_at": start,
            "end_at": end,
            "limits": limits_of(self.principal.api_key_id),
        }
        return Response(LimitsSerializer(body).data)


routes = [path("limits", LimitsView.as_view())]
