"""GET /v1/usage and /v1/usage/events: what was consumed, what it cost and what it is priced at."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar

from django.urls import path
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api import public_ids
from backend.api.bodies import page_of
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.views import TenantView
from backend.billing import queries
from backend.billing.models import UsageEvent
from backend.billing.rates import LEDGER_CURRENCY, plain
from backend.tenancy.refusals import invalid

DEFAULT_SPAN = timedelta(days=30)
LONGEST_SPAN = timedelta(days=400)
_PREFIX_OF_GROUP = {"video": "vid", "question": "qst", "api_key": "key"}

SPAN_PARAMETERS = [
    OpenApiParameter("from", str, description="RFC 3339 time or date (UTC), included; 30 days before `to` by default"),
    OpenApiParameter("to", str, description="RFC 3339 time or date (UTC), excluded; now by default"),
]


class AmountSerializer(serializers.Serializer[Any]):
    amount = serializers.CharField(help_text="Exact decimal.")
    currency = serializers.CharField()


class UsageLineSerializer(serializers.Serializer[Any]):
    group = serializers.DictField(child=serializers.CharField(allow_null=True))
    meter = serializers.CharField()
    quantity = serializers.CharField(help_text="Exact decimal, in the meter's unit.")
    events = serializers.IntegerField()
    cost = AmountSerializer()
    price = AmountSerializer()


class UsageTotalsSerializer(serializers.Serializer[Any]):
    cost = AmountSerializer()
    price = AmountSerializer()


class UsageSerializer(serializers.Serializer[Any]):
    object = serializers.CharField(default="usage")
    start_at = serializers.DateTimeField()
    end_at = serializers.DateTimeField()
    group_by = serializers.ListField(child=serializers.CharField())
    data = UsageLineSerializer(many=True)  # type: ignore[assignment]  # the name of the page's list, as in all lists
    totals = UsageTotalsSerializer()


class UsageEventSerializer(serializers.ModelSerializer[UsageEvent]):
    """A row of the ledger."""

    object = serializers.CharField(default="usage_event", read_only=True)
    video_id = public_ids.PublicIdField("vid", allow_null=True)
    question_id = public_ids.PublicIdField("qst", allow_null=True)
    api_key_id = public_ids.PublicIdField("key", allow_null=True)
    quantity = serializers.SerializerMethodField()
    cost = serializers.SerializerMethodField()
    price = serializers.SerializerMethodField()

    class Meta:
        model = UsageEvent
        fields = (
            "id", "object", "meter", "quantity", "occurred_at", "recorded_at", "video_id", "question_id", "api_key_id",
            "stage", "model", "cost", "price", "billable", "reason",
        )  # fmt: skip

    def get_quantity(self, row: UsageEvent) -> str:
        return plain(row.quantity)

    def get_cost(self, row: UsageEvent) -> dict[str, str]:
        return amount(row.cost_amount)

    def get_price(self, row: UsageEvent) -> dict[str, str]:
        return amount(row.price_amount)


def amount(value: Decimal) -> dict[str, str]:
    """Money on the wire: an exact decimal as text, since JSON numbers are binary."""
    return {"amount": plain(value), "currency": LEDGER_CURRENCY}


def _moment(request: Request, name: str) -> datetime | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    try:
        day = parse_date(text)
        moment = datetime(day.year, day.month, day.day, tzinfo=UTC) if day else parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None:
        raise invalid(pointer=f"/{name}", code="invalid_time", detail=f"{name} is an RFC 3339 time or a date.")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def span_of(request: Request) -> tuple[datetime, datetime]:
    """The half-open span that `from` and `to` ask for. Raises Problem 400."""
    end = _moment(request, "to") or timezone.now()
    start = _moment(request, "from") or end - DEFAULT_SPAN
    if start >= end:
        raise invalid(pointer="/from", code="invalid_span", detail="from must be before to.")
    if end - start > LONGEST_SPAN:
        raise invalid(pointer="/from", code="span_too_long", detail=f"At most {LONGEST_SPAN.days} days at once.")
    return start, end


class UsageView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": "usage:read"}

    @extend_schema(
        operation_id="usage_get",
        parameters=[
            *SPAN_PARAMETERS,
            OpenApiParameter("group_by", str, description=f"Comma-separated, of: {', '.join(queries.GROUPS)}"),
        ],
        responses=UsageSerializer,
    )
    def get(self, request: Request) -> Response:
        """Usage of the tenant per group and meter, with cost and price."""
        start, end = span_of(request)
        names = [name for name in request.query_params.get("group_by", "meter").split(",") if name]
        unknown = [name for name in names if name not in queries.GROUPS]
        if unknown or not names:
            raise invalid(
                pointer="/group_by", code="unknown_group", detail=f"group_by takes {', '.join(queries.GROUPS)}."
            )
        lines = queries.usage(start=start, end=end, group_by=list(dict.fromkeys(names)))
        return Response(
            {
                "object": "usage",
                "start_at": start,
                "end_at": end,
                "group_by": list(dict.fromkeys(names)),
                "data": [_line(line) for line in lines],
                "totals": {
                    "cost": amount(sum((line.cost for line in lines), Decimal(0))),
                    "price": amount(sum((line.price for line in lines), Decimal(0))),
                },
            }
        )


def _line(line: queries.UsageLine) -> dict[str, Any]:
    group: dict[str, Any] = {}
    for name, value in line.group.items():
        prefix = _PREFIX_OF_GROUP.get(name)
        group[name] = None if value is None else public_ids.encode(prefix, value) if prefix else str(value)  # type: ignore[arg-type]
    return {
        "group": group,
        "meter": line.meter,
        "quantity": plain(line.quantity),
        "events": line.events,
        "cost": amount(line.cost),
        "price": amount(line.price),
    }


class UsageEventsView(TenantView):
    scopes: ClassVar[dict[str, str]] = {"GET": "usage:read"}

    @extend_schema(
        operation_id="usage_events_list",
        parameters=[*SPAN_PARAMETERS, OpenApiParameter("meter", str), *PAGE_PARAMETERS],
        responses=page_of("UsageEventPage", UsageEventSerializer),
    )
    def get(self, request: Request) -> Response:
        """Rows of the ledger, newest first."""
        rows = queries.events_between(*span_of(request))
        meter = request.query_params.get("meter")
        if meter:
            rows = rows.filter(meter=meter)
        return page(request, rows, serialize=lambda row: UsageEventSerializer(row).data)


routes: list[Any] = [
    path("usage", UsageView.as_view(), name="usage"),
    path("usage/events", UsageEventsView.as_view(), name="usage-events"),
]
