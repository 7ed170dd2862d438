"""/v1/budget: what the tenant's questions and searches may consume in a month, and what is left of it."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import parsed
from backend.api.conditional_views import IF_MATCH, ConditionalView
from backend.billing.bodies.budgets import BudgetRequestSerializer, BudgetSerializer
from backend.billing.services.limits import budgets

TAGS = ["Budget"]


class BudgetView(ConditionalView):
    # A key that asks questions must not lift its own limits, so writing takes a scope of its own.
    scopes = {"GET": "usage:read", "PUT": "budgets:write"}
    audited = {"PUT": "budget.updated"}
    changed_by = BudgetRequestSerializer

    @extend_schema(operation_id="getBudget", tags=TAGS, responses=BudgetSerializer)
    def get(self, request: Request) -> Response:
        """Get the monthly limits, and what is used and left this month."""
        return Response(BudgetSerializer(budgets.monthly_budget()).data)

    @extend_schema(
        operation_id="updateBudget",
        parameters=[IF_MATCH],
        tags=TAGS,
        request=BudgetRequestSerializer,
        responses=BudgetSerializer,
    )
    def put(self, request: Request) -> Response:
        """Replace the monthly limits. Running questions obey the new limits from their next model call on."""
        limits = parsed(BudgetRequestSerializer, request)
        self.audit_details = {name: None if value is None else str(value) for name, value in limits.items()}
        budgets.set_own_limits(**limits)
        return Response(BudgetSerializer(budgets.monthly_budget()).data)


routes: list[Any] = [path("budget", BudgetView.as_view())]
