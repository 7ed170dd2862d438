"""Amounts on the wire: exact decimals as text, since JSON numbers are binary."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from backend.billing.rates import LEDGER_CURRENCY, plain


@extend_schema_field({"type": "string"})
class ExactDecimalField(serializers.Field):  # type: ignore[type-arg]
    """A decimal that goes out as text, without trailing zeros or an exponent."""

    def to_representation(self, value: Decimal) -> str:
        return plain(value)


class ChargeSerializer(serializers.Serializer[Any]):
    """What is charged, by the price list. Allowances, tiers, credits and tax are lines of the invoice."""

    amount = ExactDecimalField(help_text="Amount as an exact decimal.")
    currency = serializers.CharField(help_text="Currency by its ISO 4217 code.")
    price_version = serializers.IntegerField(
        allow_null=True, help_text="Version of the price, as `GET /v1/prices` lists it; null if nothing is charged."
    )


class AmountSerializer(serializers.Serializer[Any]):
    """An amount of money."""

    amount = ExactDecimalField(source="*", help_text="Amount as an exact decimal.")
    currency = serializers.CharField(
        default=LEDGER_CURRENCY, read_only=True, help_text="Currency by its ISO 4217 code."
    )
