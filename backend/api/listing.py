"""What the lists of things that customers make have in common: the span of creation, labels, and the order."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from backend.api.bodies import MetadataField, StrictSerializer, parsed_query
from backend.api.pagination import NEWEST_FIRST

Row = TypeVar("Row", bound=Model)

OLDEST_FIRST = ("id",)
_ORDERS = {"-created_at": NEWEST_FIRST, "created_at": OLDEST_FIRST}
_SLACK = timedelta(hours=1)
"""Largest difference between the time in an id and created_at. An id is made shortly before its row."""
_LAST_MS = 2**48 - 1


@dataclass(frozen=True, slots=True)
class ListWish:
    """Which rows a list shows, and their order. since <= created_at < until; None leaves a condition out.

    metadata: labels that a row must have, among others. order: for page(); None if the request names none.
    """

    since: datetime | None
    until: datetime | None
    metadata: dict[str, str] | None
    order: tuple[str, ...] | None

    def of(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Return those of the rows that are wished for. Ids begin with a time, so the key's index finds the span."""
        if self.since is not None:
            rows = rows.filter(created_at__gte=self.since, id__gte=_id_at(self.since, -_SLACK))
        if self.until is not None:
            rows = rows.filter(created_at__lt=self.until, id__lte=_id_at(self.until, _SLACK))
        return rows.filter(metadata__contains=self.metadata) if self.metadata else rows


def _id_at(at: datetime, shift: timedelta) -> UUID:
    """Return the smallest id (UUIDv7) of a moment."""
    ms = int((at.timestamp() + shift.total_seconds()) * 1000)
    return UUID(int=min(max(ms, 0), _LAST_MS) << 80)


_LONGEST_LABELS = 4_000


@extend_schema_field({"type": "string", "maxLength": _LONGEST_LABELS})
class LabelsField(serializers.Field):  # type: ignore[type-arg]
    """Labels as the text of a JSON object."""

    default_error_messages = {"not_json": "Send a JSON object of texts, of at most 4,000 characters."}

    def to_internal_value(self, data: Any) -> Any:
        try:
            labels = json.loads(data) if len(data) <= _LONGEST_LABELS else None
        except (ValueError, RecursionError):
            labels = None
        if not isinstance(labels, dict):
            self.fail("not_json")
        return MetadataField().run_validation(labels)

    def to_representation(self, value: Any) -> str:
        return json.dumps(value)


class ListQuerySerializer(StrictSerializer):
    """Base of the queries of lists."""

    created_since = serializers.DateTimeField(required=False, help_text="Only what was created at this time or later.")
    created_until = serializers.DateTimeField(required=False, help_text="Only what was created before this time.")
    sort = serializers.ChoiceField(
        tuple(_ORDERS),
        required=False,
        help_text="`-created_at`, newest first, is the default; `created_at` reverses it.",
    )


class LabelledListQuerySerializer(ListQuerySerializer):
    """Base of the queries of lists of things with metadata."""

    metadata = LabelsField(
        required=False, help_text='Only what has these labels, as a JSON object: `{"case":"7"}`, URL-encoded.'
    )


def list_query(query: type[ListQuerySerializer], request: Request) -> tuple[dict[str, Any], ListWish]:
    """Return the other parameters of a list's query, and the wish. Raises ValidationError."""
    values = parsed_query(query, request)
    wish = ListWish(
        values.pop("created_since", None),
        values.pop("created_until", None),
        values.pop("metadata", None),
        _ORDERS.get(values.pop("sort", "")),
    )
    return values, wish
