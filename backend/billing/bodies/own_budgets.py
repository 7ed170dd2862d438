"""Bodies of the budgets of a tenant and of its API keys."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from rest_framework import serializers

from backend.api.bodies import StrictSerializer
from backend.api.public_ids import PublicIdField
from backend.billing.bodies.amounts import ExactDecimalField
from backend.billing.services.limits.own_budgets import NAMES, Standing, standing_of

CHARGE_HELP = "Charge of a month by the list prices, in the currency of your plan when the limit is set."
MINUTES_HELP = "Minutes of recordings that are indexed in a month. An index that is built again counts again."
QUESTIONS_HELP = "Questions that are accepted in a month. Questions that are not charged do not count."
JOBS_HELP = "Questions, searches and indexings that are open at the same time."
RETRIES_HELP = "Questions and searches that are retried within an hour."
BYTES_HELP = "Bytes of recordings that are stored at the same time. A key is limited by the videos that it created."


class OwnBudgetRequestSerializer(StrictSerializer):
    """Limits of the tenant, or of one API key. A limit that is null or left out does not apply."""

    api_key_id = PublicIdField(
        "key", required=False, allow_null=True, default=None, help_text="The key to limit; null for the whole tenant."
    )
    charge = serializers.DecimalField(
        max_digits=18, decimal_places=6, min_value=Decimal(0), allow_null=True, default=None, help_text=CHARGE_HELP
    )
    media_minutes = serializers.DecimalField(
        max_digits=15, decimal_places=3, min_value=Decimal(0), allow_null=True, default=None, help_text=MINUTES_HELP
    )
    questions = serializers.IntegerField(
        min_value=0, max_value=10**12, allow_null=True, default=None, help_text=QUESTIONS_HELP
    )
    open_jobs = serializers.IntegerField(
        min_value=0, max_value=10**9, allow_null=True, default=None, help_text=JOBS_HELP
    )
    retries = serializers.IntegerField(
        min_value=0, max_value=10**9, allow_null=True, default=None, help_text=RETRIES_HELP
    )
    stored_bytes = serializers.IntegerField(
        min_value=0, max_value=10**18, allow_null=True, default=None, help_text=BYTES_HELP
    )


class MeasuresSerializer(serializers.Serializer[Any]):
    """Amounts by limit."""

    charge = ExactDecimalField(allow_null=True, help_text=CHARGE_HELP)
    media_minutes = serializers.FloatField(allow_null=True, help_text=MINUTES_HELP)
    questions = serializers.IntegerField(allow_null=True, help_text=QUESTIONS_HELP)
    open_jobs = serializers.IntegerField(allow_null=True, help_text=JOBS_HELP)
    retries = serializers.IntegerField(allow_null=True, help_text=RETRIES_HELP)
    stored_bytes = serializers.IntegerField(allow_null=True, help_text=BYTES_HELP)


class OwnBudgetSerializer(serializers.Serializer[Any]):
    """Limits that you have set for the tenant or for one API key, and what counts against them."""

    id = PublicIdField("bud")
    object = serializers.CharField(help_text="Always `budget`.")
    api_key_id = PublicIdField("key", allow_null=True, help_text="The key that is limited; null for the whole tenant.")
    currency = serializers.CharField(
        help_text="Currency of the charge, by its ISO 4217 code: that of your plan when the limits were set."
    )
    charge_holds = serializers.BooleanField(
        help_text="False if your plan has another currency now: the limit of charge is suspended. Set it again."
    )
    limits = MeasuresSerializer(help_text="The limits; null where there is none.")
    used = MeasuresSerializer(help_text="What is booked this month or within the hour, or stored now.")
    reserved = MeasuresSerializer(help_text="What open work may still consume.")
    left = MeasuresSerializer(help_text="What may still be accepted; null where there is no limit.")
    start_at = serializers.DateTimeField(help_text="Start of the current month (UTC).")
    end_at = serializers.DateTimeField(help_text="Start of the next month (UTC).")
    updated_at = serializers.DateTimeField(help_text="When the limits were last changed.")


def own_budget_body(standing: Standing) -> dict[str, Any]:
    """Return a budget as customers see it."""
    budget, use = standing.budget, standing.use
    return OwnBudgetSerializer(
        {
            "id": budget.id,
            "object": "budget",
            "api_key_id": budget.api_key_id,
            "currency": budget.currency,
            "charge_holds": standing.charge_holds,
            "limits": {name: getattr(budget, name) for name in NAMES},
            "used": {name: use.booked.of(name) for name in NAMES},
            "reserved": {name: use.held.of(name) for name in NAMES},
            "left": {name: standing.left(name) for name in NAMES},
            "start_at": standing.start_at,
            "end_at": standing.end_at,
            "updated_at": budget.updated_at,
        }
    ).data


def listed_budget(budget: Any) -> dict[str, Any]:
    """Return a budget's row with what counts against it now."""
    return own_budget_body(standing_of(budget))
