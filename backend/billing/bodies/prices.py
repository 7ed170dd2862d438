"""Bodies of the price list."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.api.bodies import StrictSerializer
from backend.billing.bodies.amounts import ExactDecimalField
from backend.billing.queries import SHOWN_METERS


class PriceListQuerySerializer(StrictSerializer):
    at = serializers.DateTimeField(required=False, help_text="The moment whose prices are returned; now by default.")


class PriceSerializer(serializers.Serializer[Any]):
    """The price of one unit of a meter."""

    meter = serializers.ChoiceField(choices=SHOWN_METERS, help_text="What is counted.")
    variant = serializers.CharField(
        help_text="Method and effort of a question (`ava:low`, `ava`, `:low`), profile and stages of a recording "
        "(`traffic:full`, `traffic`, `:observer`), or empty for all others."
    )
    model = serializers.CharField(help_text="Name of the model, or empty for every model.")
    unit_amount = ExactDecimalField(help_text="Amount of one unit, as an exact decimal.")
    currency = serializers.CharField(source="book.currency", help_text="Currency by its ISO 4217 code.")
    version = serializers.IntegerField(help_text="Version of this price, counted from 1.")
    effective_from = serializers.DateTimeField(help_text="Time from which the price applies.")
    effective_to = serializers.DateTimeField(
        allow_null=True, help_text="Time up to which the price applies; null if no later price is known."
    )


class PriceAllowanceSerializer(serializers.Serializer[Any]):
    """Units that each month includes."""

    meter = serializers.ChoiceField(choices=SHOWN_METERS, help_text="What is counted.")
    variant = serializers.CharField(help_text="As in a price.")
    quantity = ExactDecimalField(help_text="Units per month, as an exact decimal.")


class PriceTierSerializer(serializers.Serializer[Any]):
    """The amount of a unit after a quantity in a month. Replaces the price of the meter."""

    meter = serializers.ChoiceField(choices=SHOWN_METERS, help_text="What is counted.")
    variant = serializers.CharField(help_text="As in a price.")
    mode = serializers.CharField(
        help_text="`graduated`: each unit costs the amount of its own tier. `volume`: all units cost the amount of the "
        "last tier that is reached.",
    )
    from_quantity = ExactDecimalField(help_text="Units after the allowance from which the tier applies.")
    unit_amount = ExactDecimalField(help_text="Amount of one unit, as an exact decimal.")


class PricePlanSerializer(serializers.Serializer[Any]):
    """The plan that the prices belong to."""

    code = serializers.CharField(source="plan.code", help_text="Code of the plan.")
    name = serializers.CharField(source="plan.name", help_text="Name of the plan.")
    version = serializers.IntegerField(help_text="Version of the plan's terms.")
    minimum_amount = ExactDecimalField(help_text="Lowest charge of a month, as an exact decimal.")
    allowances = PriceAllowanceSerializer(many=True, source="allowances.all", help_text="What each month includes.")
    tiers = PriceTierSerializer(many=True, source="tiers.all", help_text="Amounts that depend on the quantity.")


class PriceListSerializer(serializers.Serializer[Any]):
    """What the tenant pays at one moment."""

    object = serializers.CharField(default="price_list", read_only=True, help_text="Always `price_list`.")
    at = serializers.DateTimeField(help_text="The moment at which the prices apply.")
    currency = serializers.CharField(help_text="Currency of all amounts, by its ISO 4217 code.")
    plan = PricePlanSerializer(source="plan_version", help_text="The plan and its terms.")
    trial_until = serializers.DateTimeField(
        allow_null=True, help_text="Time up to which usage is free; null outside a trial."
    )
    prices = PriceSerializer(many=True, help_text="The prices, by meter, model and variant.")
