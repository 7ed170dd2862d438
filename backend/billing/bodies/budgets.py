"""Bodies of the monthly budget."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from rest_framework import serializers

from backend.api.bodies import StrictSerializer
from backend.billing.bodies.amounts import ExactDecimalField
from backend.billing.rates import LEDGER_CURRENCY


class BudgetRequestSerializer(StrictSerializer):
    """Limits per calendar month (UTC). A limit that is null or left out does not apply."""

    max_tokens = serializers.IntegerField(
        min_value=0,
        max_value=10**15,
        allow_null=True,
        default=None,
        help_text="Maximum of prompt and completion tokens together.",
    )
    max_seconds = serializers.DecimalField(
        max_digits=15,
        decimal_places=3,
        min_value=Decimal(0),
        allow_null=True,
        default=None,
        help_text="Maximum time of model calls, in seconds.",
    )
    max_cost = serializers.DecimalField(
        max_digits=18,
        decimal_places=6,
        min_value=Decimal(0),
        allow_null=True,
        default=None,
        help_text="Maximum cost of running model calls, in the ledger's currency.",
    )


class BudgetUsedSerializer(serializers.Serializer[Any]):
    """What questions and searches consumed this month."""

    tokens = serializers.IntegerField(help_text="Prompt and completion tokens together.")
    seconds = serializers.FloatField(help_text="Time of model calls, in seconds.")
    cost = ExactDecimalField(help_text="Cost of running model calls, as an exact decimal.")


class BudgetLeftSerializer(serializers.Serializer[Any]):
    """What may still be consumed this month. A value without a limit is null."""

    tokens = serializers.IntegerField(source="max_tokens", allow_null=True, help_text="Tokens that are left.")
    seconds = serializers.FloatField(source="max_seconds", allow_null=True, help_text="Seconds that are left.")
    cost = ExactDecimalField(source="max_cost", allow_null=True, help_text="Cost that is left, as an exact decimal.")


class BudgetSerializer(serializers.Serializer[Any]):
    """The monthly limits of all questions and searches together, and what is used and left."""

    object = serializers.CharField(default="budget", read_only=True, help_text="Always `budget`.")
    max_tokens = serializers.IntegerField(
        source="limits.max_tokens", allow_null=True, help_text="Maximum of prompt and completion tokens together."
    )
    max_seconds = serializers.FloatField(
        source="limits.max_seconds", allow_null=True, help_text="Maximum time of model calls, in seconds."
    )
    max_cost = ExactDecimalField(
        source="limits.max_cost",
        allow_null=True,
        help_text="Maximum cost of running model calls, as an exact decimal.",
    )
    currency = serializers.CharField(
        default=LEDGER_CURRENCY, read_only=True, help_text="Currency of all costs, by its ISO 4217 code."
    )
    start_at = serializers.DateTimeField(help_text="Start of the current budget month.")
    end_at = serializers.DateTimeField(help_text="Start of the next month.")
    used = BudgetUsedSerializer(help_text="What is used this month. Includes usage so far of open questions.")
    left = BudgetLeftSerializer(help_text="What is left this month; null where there is no limit.")
