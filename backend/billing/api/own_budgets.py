"""/v1/budgets: the limits that a tenant sets for itself and for its API keys."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import page_of, parsed
from backend.api.conditional_views import IF_MATCH, change_alone
from backend.api.etags import expected_tag, state_of
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.public_ids import decode
from backend.api.views import TenantView
from backend.billing.bodies.own_budgets import (
    OwnBudgetRequestSerializer,
    OwnBudgetSerializer,
    listed_budget,
)
from backend.billing.models import Budget
from backend.billing.queries.budgets import budgets
from backend.billing.services.limits import own_budgets

TAGS = ["Budget"]


def _state(budget: Budget | None) -> str:
    """Return the state of a budget in its ETag: its limits. None stands for no budget."""
    return state_of({} if budget is None else {name: getattr(budget, name) for name in own_budgets.NAMES})


def _expect(request: Request, tenant_id: UUID, *, api_key_id: UUID | None) -> None:
    """Hold the budget of the tenant or of a key for a change. Raises Problem 412 if it is not the one of If-Match."""
    change_alone(f"{tenant_id} budget {api_key_id}")
    expected_tag(request, current=_state(budgets().filter(api_key_id=api_key_id).first()))


class OwnBudgetsView(TenantView):
    # A key that asks questions must not lift its own limits, so writing takes a scope of its own.
    scopes = {"GET": "usage:read", "PUT": "budgets:write"}
    audited = {"PUT": "budget.updated"}

    @extend_schema(
        operation_id="listBudgets",
        tags=TAGS,
        parameters=PAGE_PARAMETERS,
        responses=page_of("OwnBudgetPage", OwnBudgetSerializer),
    )
    def get(self, request: Request) -> Response:
        """List the budgets of the tenant and of its API keys, with what is used, reserved and left."""
        return page(request, budgets(), serialize=listed_budget)

    @extend_schema(
        operation_id="putBudget",
        tags=TAGS,
        parameters=[IF_MATCH],
        request=OwnBudgetRequestSerializer,
        responses=OwnBudgetSerializer,
    )
    def put(self, request: Request) -> Response:
        """Set the limits of the tenant, or of one API key, in place of its earlier limits.

        Accepted work reserves what it may consume. Work that a limit leaves no room for is refused. `If-Match` takes
        the ETag of `GET /v1/budgets/{budget_id}`; a budget that is deleted or changed meanwhile is not replaced (412).
        """
        limits = parsed(OwnBudgetRequestSerializer, request)
        _expect(request, self.principal.tenant_id, api_key_id=limits["api_key_id"])
        self.audit_details = {name: None if value is None else str(value) for name, value in limits.items()}
        budget = own_budgets.set_budget(api_key_id=limits.pop("api_key_id"), limits=limits)
        return Response(listed_budget(budget), headers={"ETag": _state(budget)})


class OwnBudgetView(TenantView):
    scopes = {"GET": "usage:read", "DELETE": "budgets:write"}
    audited = {"DELETE": "budget.deleted"}

    @extend_schema(operation_id="getOwnBudget", tags=TAGS, responses=OwnBudgetSerializer)
    def get(self, request: Request, budget_id: str) -> Response:
        """Get one budget, with what is used, reserved and left."""
        budget = self.get_or_404(budgets(), decode("bud", budget_id))
        return Response(listed_budget(budget), headers={"ETag": _state(budget)})

    @extend_schema(operation_id="deleteBudget", tags=TAGS, parameters=[IF_MATCH], responses={204: None})
    def delete(self, request: Request, budget_id: str) -> Response:
        """Delete a budget. Its limits do not hold any more; the limits of your plan do."""
        budget = self.get_or_404(budgets(), decode("bud", budget_id))
        _expect(request, self.principal.tenant_id, api_key_id=budget.api_key_id)
        own_budgets.delete_budget(budget)
        return Response(status=204)


routes: list[Any] = [
    path("budgets", OwnBudgetsView.as_view()),
    path("budgets/<str:budget_id>", OwnBudgetView.as_view()),
]
