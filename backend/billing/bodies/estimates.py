"""Estimates on the wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rest_framework import serializers

from backend.billing.bodies.amounts import ExactDecimalField
from backend.billing.services.limits.estimates import Estimate, Span


class ChargeSpanSerializer(serializers.Serializer[Any]):
    """What the work will be charged, by the list price in force."""

    low = ExactDecimalField()
    expected = ExactDecimalField()
    high = ExactDecimalField()
    currency = serializers.CharField(help_text="Currency by its ISO 4217 code.")


class DurationSpanSerializer(serializers.Serializer[Any]):
    """How long the work will take from its acceptance to its end, in milliseconds."""

    low = serializers.IntegerField()
    expected = serializers.IntegerField()
    high = serializers.IntegerField()


class EstimateSerializer(serializers.Serializer[Any]):
    """An estimate before the work. `low` and `high` enclose about 8 of 10 cases of your own history."""

    object = serializers.CharField(help_text="Always `estimate`.")
    charge = ChargeSpanSerializer()
    duration_ms = DurationSpanSerializer()
    sample = serializers.IntegerField(help_text="Earlier work of yours behind the duration; 0 if it is assumed.")
    error = serializers.FloatField(
        allow_null=True,
        help_text="Median error of such estimates of the duration against your own history, as a fraction; null if the "
        "history is too short.",
    )
    covered = serializers.FloatField(
        allow_null=True, help_text="Share of your own history that lay from `low` to `high`; null if it is too short."
    )


def estimate_body(
    charge: Span,
    *,
    currency: str,
    duration: Estimate,
    exact: Callable[[Any], Any],
    serializer: type[EstimateSerializer] = EstimateSerializer,
    **more: Any,
) -> dict[str, Any]:
    """Return an estimate as customers see it. exact: rounds an amount of money. more: fields that the serializer has
    beyond those of EstimateSerializer."""
    span = duration.span
    return serializer(
        {
            "object": "estimate",
            "charge": {
                "low": exact(charge.low),
                "expected": exact(charge.expected),
                "high": exact(charge.high),
                "currency": currency,
            },
            "duration_ms": {"low": round(span.low), "expected": round(span.expected), "high": round(span.high)},
            "sample": duration.sample,
            "error": duration.error,
            "covered": duration.covered,
            **more,
        }
    ).data
