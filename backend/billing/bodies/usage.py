"""Bodies of usage: the query strings, the sums, and the rows of the ledger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from backend.api.bodies import NamesField, StrictSerializer
from backend.api.pagination import offset_cursor
from backend.api.public_ids import PublicIdField, encode
from backend.billing.bodies.amounts import ChargeSerializer, ExactDecimalField
from backend.billing.charges import Charge
from backend.billing.models import UsageEvent
from backend.billing.queries import usage as queries

DEFAULT_SPAN = timedelta(days=30)
LONGEST_SPAN = timedelta(days=400)
# Outside of these years a span, or its conversion to another time zone, would leave the calendar.
YEARS = range(1970, 9_999)
LONGEST_FINE_SPAN = timedelta(days=31)
FINE_GROUPS = frozenset({"hour", "question"})
_PREFIX_OF_GROUP = {"video": "vid", "question": "qst", "api_key": "key", "collection": "col", "member": "per"}


@extend_schema_field({"type": "string"})
class TimeField(serializers.Field):  # type: ignore[type-arg]
    """A time or a date as text outside, a time inside. A time without an offset is in UTC."""

    default_error_messages = {"invalid_time": "Give an RFC 3339 time or a date, such as 2026-03-01."}

    def to_internal_value(self, data: Any) -> datetime:
        try:
            day = parse_date(data)
            moment = datetime(day.year, day.month, day.day, tzinfo=UTC) if day else parse_datetime(data)
        except (TypeError, ValueError):
            moment = None
        if moment is None or moment.year not in YEARS:
            self.fail("invalid_time")
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def to_representation(self, value: datetime) -> str:
        return value.isoformat()


class SpanQuerySerializer(StrictSerializer):
    """The half-open span of time that usage is read of."""

    # The parameter is called `from`, which Python does not allow as a name.
    start = TimeField(
        required=False, help_text="Begin of the span, a time or a date in UTC. By default 30 days before its end."
    )
    to = TimeField(required=False, help_text="End of the span, a time or a date in UTC, not included. By default now.")

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        return {("from" if name == "start" else name): field for name, field in fields.items()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        end = attrs.pop("to", None) or timezone.now()
        start = attrs.pop("from", None) or end - DEFAULT_SPAN
        if start >= end:
            raise serializers.ValidationError({"from": "Give a begin before the end."}, code="invalid_span")
        if end - start > LONGEST_SPAN:
            detail = f"Give a span of at most {LONGEST_SPAN.days} days."
            raise serializers.ValidationError({"from": detail}, code="span_too_long")
        return {**attrs, "start": start, "end": end}


class UsageFilterSerializer(SpanQuerySerializer):
    """What usage is restricted to."""

    meter = serializers.ChoiceField(queries.SHOWN_METERS, required=False, help_text="Only usage of this meter.")
    video_id = PublicIdField("vid", required=False, help_text="Only usage of this video.")
    collection_id = PublicIdField("col", required=False, help_text="Only usage of this collection.")
    question_id = PublicIdField("qst", required=False, help_text="Only usage of this question.")
    api_key_id = PublicIdField("key", required=False, help_text="Only usage that this API key caused.")
    member_id = PublicIdField("per", required=False, help_text="Only usage that this member caused.")
    model = serializers.CharField(max_length=200, required=False, help_text="Only usage of this model.")
    method = serializers.CharField(max_length=32, required=False, help_text="Only usage of this answering method.")
    # Without a default, a BooleanField that is left out of a query string would read as false.
    billable = serializers.ChoiceField(
        ["true", "false"], required=False, help_text="`true`: only what is charged. `false`: only what is not."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        return {**attrs, "billable": attrs["billable"] == "true"} if "billable" in attrs else attrs


class UsageQuerySerializer(UsageFilterSerializer):
    """Which usage is summed up, and how."""

    group_by = NamesField(
        queries.GROUPS,
        code="unknown_group",
        default=["meter"],
        help_text=f"What to group by: a comma-separated list out of {', '.join(queries.GROUPS)}. By default meter.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        if FINE_GROUPS & set(attrs["group_by"]) and attrs["end"] - attrs["start"] > LONGEST_FINE_SPAN:
            names = " or ".join(sorted(FINE_GROUPS))
            detail = f"Give a span of at most {LONGEST_FINE_SPAN.days} days when you group by {names}."
            raise serializers.ValidationError({"from": detail}, code="span_too_long")
        rest = {name: attrs.pop(name) for name in queries.FILTERS if name in attrs}
        return {**attrs, "filters": rest}


class UsageEventQuerySerializer(UsageFilterSerializer):
    """Which rows of the ledger a list shows."""


class UsageChargeSerializer(serializers.Serializer[Any]):
    """An amount of money by the price list."""

    amount = ExactDecimalField(help_text="Amount as an exact decimal.")
    currency = serializers.CharField(help_text="Currency by its ISO 4217 code.")


class UsageLineSerializer(serializers.Serializer[Any]):
    """Usage of one meter within one group."""

    group = serializers.SerializerMethodField(help_text="Values of the group by the names in `group_by`.")
    meter = serializers.ChoiceField(queries.SHOWN_METERS, help_text="What was measured.")
    quantity = ExactDecimalField(help_text="Quantity as an exact decimal, in the meter's unit.")
    events = serializers.IntegerField(help_text="Number of ledger rows.")
    charge = UsageChargeSerializer(help_text="What the usage is charged by the price list.")

    @extend_schema_field(serializers.DictField(child=serializers.CharField(allow_null=True)))
    def get_group(self, line: queries.UsageLine) -> dict[str, str | None]:
        return {name: _shown(name, value) for name, value in line.group.items()}


def _shown(name: str, value: Any) -> str | None:
    if value is None:
        return None
    return encode(_PREFIX_OF_GROUP[name], value) if name in _PREFIX_OF_GROUP else str(value)


class UsageTotalsSerializer(serializers.Serializer[Any]):
    """Sums over all lines."""

    charges = UsageChargeSerializer(
        many=True, help_text="What the usage is charged, one amount for each currency; empty without usage."
    )


class UsageSerializer(serializers.Serializer[Any]):
    """Usage of a span of time, summed up by groups and meters."""

    object = serializers.CharField(default="usage", read_only=True, help_text="Always `usage`.")
    start_at = serializers.DateTimeField(help_text="Begin of the span.")
    end_at = serializers.DateTimeField(help_text="End of the span, not included.")
    group_by = serializers.ListField(child=serializers.CharField(), help_text="What the lines are grouped by.")
    data = UsageLineSerializer(  # type: ignore[assignment]  # the name of the list, as in all lists
        source="lines", many=True, help_text="One line for each group and meter."
    )
    next_cursor = serializers.SerializerMethodField(help_text="`cursor` of the next page; null on the last one.")
    totals = UsageTotalsSerializer(source="*", help_text="Sums over the lines of all pages.")

    def get_next_cursor(self, usage: queries.Usage) -> str | None:
        return None if usage.next_offset is None else offset_cursor(usage.next_offset)


class UsageEventSerializer(serializers.ModelSerializer[UsageEvent]):
    """A row of the ledger."""

    object = serializers.CharField(default="usage_event", read_only=True, help_text="Always `usage_event`.")
    id = PublicIdField("use", help_text="Id of the row.")
    reverses_id = PublicIdField("use", allow_null=True, help_text="Row that this row takes back; null otherwise.")
    video_id = PublicIdField("vid", allow_null=True, help_text="Video that the usage belongs to, if any.")
    question_id = PublicIdField("qst", allow_null=True, help_text="Question that the usage belongs to, if any.")
    collection_id = PublicIdField("col", allow_null=True, help_text="Collection that the usage belongs to, if any.")
    api_key_id = PublicIdField("key", allow_null=True, help_text="API key that caused the usage, if known.")
    member_id = PublicIdField(
        "per", source="person_id", allow_null=True, help_text="Member who caused the usage, if known."
    )
    meter = serializers.ChoiceField(queries.SHOWN_METERS, source="shown_meter", help_text="What was measured.")
    quantity = ExactDecimalField(
        source="shown_quantity", help_text="Quantity as an exact decimal, in the meter's unit."
    )
    charge = serializers.SerializerMethodField(help_text="What the usage is charged, with the version of its price.")

    class Meta:
        model = UsageEvent
        fields = (
            "id", "object", "meter", "quantity", "occurred_at", "recorded_at", "video_id", "question_id",
            "collection_id", "api_key_id", "member_id", "stage", "model", "method", "effort", "profile", "variant",
            "charge", "billable", "reason", "reverses_id",
        )  # fmt: skip
        extra_kwargs = {
            "occurred_at": {"help_text": "When the usage occurred."},
            "recorded_at": {"help_text": "When the row was written."},
            "stage": {"read_only": True, "help_text": "Stage of the work; empty without one."},
            "model": {"read_only": True, "help_text": "Model that was called; empty without one."},
            "method": {"read_only": True, "help_text": "Answering method of a question; empty otherwise."},
            "effort": {"read_only": True, "help_text": "Effort of a question; empty otherwise."},
            "profile": {"read_only": True, "help_text": "Profile of a video; empty otherwise."},
            "variant": {
                "read_only": True,
                "help_text": "Variant of the meter by which the price was found; empty without one.",
            },
            "billable": {"read_only": True, "help_text": "False for usage that nobody is charged for."},
            "reason": {
                "read_only": True,
                "help_text": "Why the row is not billable or takes another back; empty otherwise.",
            },
        }

    @extend_schema_field(ChargeSerializer)
    def get_charge(self, row: UsageEvent) -> dict[str, Any]:
        amount: Decimal = row.shown_price  # type: ignore[attr-defined]  # an annotation of queries.events()
        return ChargeSerializer(Charge(amount, row.price_currency, row.price_version)).data
