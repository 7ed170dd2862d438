"""/v1/budget: what the tenant's questions and searches may consume in a month, and what is left of it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, ClassVar

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import StrictSerializer, parsed
from backend.api.views import TenantView
from backend.billing.rates import LEDGER_CURRENCY, plain
from backend.billing.services import budgets
from backend.billing.services.budgets import Limits, MonthlyBudget


class NewBudgetSerializer(StrictSerializer):
    """Limits per calendar month (UTC). What is null or left out has no limit."""

    max_tokens = serializers.IntegerField(
        min_value=0, max_value=10**15, allow_null=True, default=None, help_text="Prompt and completion tokens."
    )
    max_seconds = serializers.DecimalField(
        max_digits=15, decimal_places=3, min_value=Decimal(0), allow_null=True, default=None, help_text="Of model time."
    )
    max_cost = serializers.DecimalField(
        max_digits=18,
        decimal_places=6,
        min_value=Decimal(0),
        allow_null=True,
        default=None,
        help_text="What model calls cost to run, in the ledger's currency.",
    )


class AmountsSerializer(serializers.Serializer[Any]):
    tokens = serializers.IntegerField()
    seconds = serializers.FloatField()
    cost = serializers.CharField(help_text="Exact decimal.")


class LeftSerializer(serializers.Serializer[Any]):
    tokens = serializers.IntegerField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    cost = serializers.CharField(allow_null=True, help_text="Exact decimal.")


class TenantBudgetSerializer(serializers.Serializer[Any]):
    object = serializers.CharField()
    max_tokens = serializers.IntegerField(allow_null=True)
    max_seconds = serializers.FloatField(allow_null=True)
    max_cost = serializers.CharField(allow_null=True, help_text="Exact decimal.")
    currency = serializers.CharField()
    start_at = serializers.DateTimeField(help_text="The month that used and left are of.")
    end_at = serializers.DateTimeField(help_text="When it begins anew.")
    used = AmountsSerializer(help_text="Open questions included, as far as they are.")
    left = LeftSerializer(help_text="Null where there is no limit.")


def represent(budget: MonthlyBudget) -> dict[str, Any]:
    limits, used, left = budget.limits, budget.used, budget.left
    return {
        "object": "budget",
        "max_tokens": limits.max_tokens,
        "max_seconds": _number(limits.max_seconds),
        "max_cost": _money(limits.max_cost),
        "currency": LEDGER_CURRENCY,
        "start_at": budget.start_at,
        "end_at": budget.end_at,
        "used": {"tokens": used.tokens, "seconds": float(used.seconds), "cost": plain(used.cost)},
        "left": {
            "tokens": left.max_tokens,
            "seconds": _number(left.max_seconds),
            "cost": _money(left.max_cost),
        },
    }


def _number(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


def _money(value: Decimal | None) -> str | None:
    return None if value is None else plain(value)


class BudgetView(TenantView):
    # A key that asks questions must not lift what bounds them: writing takes the right to manage keys.
    scopes: ClassVar[dict[str, str]] = {"GET": "usage:read", "PUT": "keys:write"}

    @extend_schema(operation_id="budget_get", responses=TenantBudgetSerializer)
    def get(self, request: Request) -> Response:
        """The tenant's monthly limits, and what is used and left this month."""
        return Response(represent(budgets.monthly_budget()))

    @extend_schema(operation_id="budget_put", request=NewBudgetSerializer, responses=TenantBudgetSerializer)
    def put(self, request: Request) -> Response:
        """Replace the limits. Questions that run are held to the new ones from their next model call on."""
        budgets.set_limits(Limits(**parsed(NewBudgetSerializer, request)))
        return Response(represent(budgets.monthly_budget()))


routes: list[Any] = [path("budget", BudgetView.as_view(), name="budget")]
