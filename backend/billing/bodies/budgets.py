"""Bodies of the monthly budget."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from backend.api.bodies import StrictSerializer


@extend_schema_field({"type": "number", "format": "double", "minimum": 0})
class SecondsField(serializers.DecimalField):
    """Seconds, exact to the millisecond inside."""


class BudgetRequestSerializer(StrictSerializer):
    """Limits per calendar month (UTC). A limit that is null or left out does not apply."""

    max_tokens = serializers.IntegerField(
        min_value=0,
        max_value=10**15,
        allow_null=True,
        default=None,
        help_text="Maximum of prompt and completion tokens together.",
    )
    max_seconds = SecondsField(
        max_digits=15,
        decimal_places=3,
        min_value=Decimal(0),
        allow_null=True,
        default=None,
        help_text="Maximum time of model calls, in seconds.",
    )


class BudgetUsedSerializer(serializers.Serializer[Any]):
    """What questions and searches consumed this month."""

    tokens = serializers.IntegerField(help_text="Prompt and completion tokens together.")
    seconds = serializers.FloatField(help_text="Time of model calls, in seconds.")


class BudgetLeftSerializer(serializers.Serializer[Any]):
    """What may still be consumed this month. A value without a limit is null."""

    tokens = serializers.IntegerField(source="max_tokens", allow_null=True, help_text="Tokens that are left.")
    seconds = serializers.FloatField(source="max_seconds", allow_null=True, help_text="Seconds that are left.")


class BudgetSerializer(serializers.Serializer[Any]):
    """The monthly limits of all questions and searches together, and what is used and left."""

    object = serializers.CharField(default="budget", read_only=True, help_text="Always `budget`.")
    max_tokens = serializers.IntegerField(
        source="limits.max_tokens", allow_null=True, help_text="Maximum of prompt and completion tokens together."
    )
    max_seconds = serializers.FloatField(
        source="limits.max_seconds", allow_null=True, help_text="Maximum time of model calls, in seconds."
    )
    start_at = serializers.DateTimeField(help_text="Start of the current budget month.")
    end_at = serializers.DateTimeField(help_text="Start of the next month.")
    used = BudgetUsedSerializer(help_text="What is used this month. Includes usage so far of open questions.")
    left = BudgetLeftSerializer(help_text="What is left this month; null where there is no limit.")
