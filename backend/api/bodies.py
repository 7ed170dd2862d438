"""Serializers that refuse unknown fields, and fields that several apps share."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request

from backend.tenancy import shown_text
from gpu_workers.engine.languages.codes import LANGUAGES

# Query parameters that backend.api.pagination reads, and the tenant of a browser session (backend.people).
PAGING = frozenset({"limit", "cursor", "tenant"})
MAX_TIME_MS = 2**53 - 1
"""Largest whole number that every JSON client reads exactly."""
SHA256_HEX = r"^[0-9a-fA-F]{64}$"


class StrictSerializer(serializers.Serializer):  # type: ignore[type-arg]
    """Base of request bodies and queries: an unknown field is an error, so that a typo is not silently ignored."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = set(data) - set(self.fields)
            if unknown:
                raise ValidationError(
                    {name: [ErrorDetail("There is no such field.", code="unknown_field")] for name in sorted(unknown)}
                )
            # A query has only text.
            if not self.context.get("query"):
                mistyped = {name: error for name in data if (error := _mistyped(self.fields[name], data[name]))}
                if mistyped:
                    raise ValidationError(mistyped)
        return super().to_internal_value(data)


def _mistyped(field: Any, value: Any) -> Any:
    """Return the error of text where JSON has a number or true and false, None without one: rest_framework would read
    the text all the same."""
    if isinstance(field, serializers.ListField) and isinstance(value, list):
        return {index: error for index, item in enumerate(value) if (error := _mistyped(field.child, item))} or None
    if isinstance(field, serializers.BooleanField) and isinstance(value, str | int) and not isinstance(value, bool):
        return ErrorDetail("Must be true or false.", code="invalid")
    if isinstance(field, serializers.IntegerField | serializers.FloatField) and isinstance(value, str | bool):
        return ErrorDetail("Must be a number, without quotation marks.", code="invalid")
    return None


class TimeSpanSerializer(StrictSerializer):
    """A part of a recording, in milliseconds from its start; without a field the part begins or ends with it."""

    start_ms = serializers.IntegerField(min_value=0, max_value=MAX_TIME_MS, required=False)
    end_ms = serializers.IntegerField(min_value=1, max_value=MAX_TIME_MS, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("start_ms", 0) >= attrs.get("end_ms", MAX_TIME_MS + 1):
            raise ValidationError({"end_ms": "end_ms must be greater than start_ms."}, code="out_of_order")
        return attrs


def parsed(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the validated body of a request. Raises ValidationError."""
    body = serializer(data=request.data)
    body.is_valid(raise_exception=True)
    values: dict[str, Any] = body.validated_data
    return values


def listed(serializer: type[serializers.Serializer[Any]], rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the bodies of rows. One serializer serves all rows, since making one copies every field."""
    return list(cast(Sequence[dict[str, Any]], serializer(rows, many=True).data))


def parsed_query(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the validated query parameters of a request, without limit and cursor. Raises ValidationError."""
    given = {name: value for name, value in request.query_params.items() if name not in PAGING}
    query = serializer(data=given, context={"query": True})
    query.is_valid(raise_exception=True)
    values: dict[str, Any] = query.validated_data
    return values


@extend_schema_field({"type": "string"})
class NamesField(serializers.Field):  # type: ignore[type-arg]
    """Comma-separated names outside, a list of names inside, each once. code: that of a name which is not allowed."""

    def __init__(self, allowed: Collection[str], *, code: str, **values: Any) -> None:
        super().__init__(**values)
        self.allowed, self.code = allowed, code

    def to_internal_value(self, data: Any) -> list[str]:
        names = [name for name in str(data).split(",") if name]
        if not names or not set(names) <= set(self.allowed):
            raise ValidationError(f"Give a comma-separated list out of {', '.join(self.allowed)}.", code=self.code)
        return list(dict.fromkeys(names))

    def to_representation(self, value: list[str]) -> str:
        return ",".join(value)


class NameField(serializers.CharField):
    """A name in one line, of characters that are shown as they stand."""

    default_error_messages = {shown_text.CODE: shown_text.MESSAGE}

    def to_internal_value(self, data: Any) -> str:
        text = str(super().to_internal_value(data))
        # rest_framework refuses a null character by a code of its own.
        if not all(map(shown_text.is_shown, text.replace("\0", ""))):
            self.fail(shown_text.CODE)
        return text


@extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 50})
class MetadataField(serializers.DictField):
    """Your own labels: at most 50 keys of 1 to 40 characters, with values of at most 500 characters."""

    child = serializers.CharField(max_length=500, allow_blank=True, trim_whitespace=False)

    def to_internal_value(self, data: Any) -> Any:
        values = super().to_internal_value(data)
        if len(values) > 50:
            raise ValidationError("At most 50 keys.", code="too_many_keys")
        key = NameField(max_length=40)
        for name in values:
            key.run_validation(name)
        return values


class LanguageField(serializers.CharField):
    """A language by its ISO 639-1 code, in lower case."""

    default_error_messages = {
        "unknown_language": "There is no language {code}. Use an ISO 639-1 code such as de, or leave the field out."
    }

    def to_internal_value(self, data: Any) -> str:
        code = str(super().to_internal_value(data)).lower()
        if code and code not in LANGUAGES:
            self.fail("unknown_language", code=json.dumps(code))
        return code


class ResourceErrorSerializer(serializers.Serializer):  # type: ignore[type-arg]
    """Why a resource failed."""

    code = serializers.CharField(help_text="Stable code (docs/errors.md); branch on it.")
    message = serializers.CharField(help_text="A sentence for people. It may change.")


def page_of(name: str, row: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """Return the schema of one page of rows, for the OpenAPI document."""
    cursor = serializers.CharField(allow_null=True, help_text="The cursor of the next page; null on the last page.")
    fields = {"data": row(many=True), "next_cursor": cursor}
    return type(name, (serializers.Serializer,), fields)
