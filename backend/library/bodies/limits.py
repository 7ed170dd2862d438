"""The limits of a caller, on the wire."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.billing.bodies.amounts import ExactDecimalField

SCOPES = ("plan", "tenant", "api_key")
NAMES = (
    "charge", "free_work", "media_minutes", "open_jobs", "questions", "retries", "stored_bytes", "tokens", "videos",
)  # fmt: skip


class LimitSerializer(serializers.Serializer[Any]):
    """One limit and what counts against it."""

    name = serializers.ChoiceField(
        NAMES,
        help_text="What is limited. `free_work` (the list price of begun work that ended without a charge) and "
        "`retries` are those of the last hour; `open_jobs`, `stored_bytes` and `videos` hold at any moment; all others "
        "are monthly.",
    )
    scope = serializers.ChoiceField(
        SCOPES, help_text="Who set it: `plan` (only we can change it), `tenant` or `api_key` (`PUT /v1/budgets`)."
    )
    amount = ExactDecimalField(help_text="The limit.")
    used = ExactDecimalField(
        help_text="What is booked or stored. Of `free_work`: what ended free within the hour, less what was charged in "
        "it.",
    )
    reserved = ExactDecimalField(help_text="What open work may still consume.")
    left = ExactDecimalField(help_text="What may still be accepted.")


class LimitsSerializer(serializers.Serializer[Any]):
    """Every limit that holds for the caller."""

    object = serializers.CharField(help_text="Always `limits`.")
    plan = serializers.CharField(help_text="Code of your plan.")
    currency = serializers.CharField(help_text="Currency of the charge, by its ISO 4217 code.")
    start_at = serializers.DateTimeField(help_text="Start of the current month (UTC).")
    end_at = serializers.DateTimeField(help_text="Start of the next month (UTC).")
    limits = LimitSerializer(many=True)
