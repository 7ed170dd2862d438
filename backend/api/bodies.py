"""Request bodies: serializers that refuse unknown fields, and fields that several apps share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request

MAX_TIME_MS = 2**53 - 1
"""JSON numbers are exact up to here in every client."""
SHA256_HEX = r"^[0-9a-fA-F]{64}$"


class Body(serializers.Serializer):  # type: ignore[type-arg]
    """A request body or query whose unknown fields are errors, so that a typo is not silently ignored."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = set(data) - set(self.fields)
            if unknown:
                raise ValidationError(
                    {name: [ErrorDetail("There is no such field.", code="unknown_field")] for name in sorted(unknown)}
                )
        return super().to_internal_value(data)


def parsed(serializer: type[serializers.Serializer[Any]], request: Request, *, partial: bool = False) -> dict[str, Any]:
    """The validated body of a request. Raises ValidationError."""
    body = serializer(data=request.data, partial=partial)
    body.is_valid(raise_exception=True)
    values: dict[str, Any] = body.validated_data
    return values


class _Paging(Body):
    # Read by backend.api.pagination; here only so that they are known.
    limit = serializers.CharField(required=False)
    cursor = serializers.CharField(required=False)


def parsed_query(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    """The validated query parameters of a request, without limit and cursor. Raises ValidationError."""
    given = {name: value for name, value in request.query_params.items() if name not in _Paging._declared_fields}
    query = serializer(data=given)
    query.is_valid(raise_exception=True)
    values: dict[str, Any] = query.validated_data
    return values


@extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 50})
class MetadataField(serializers.DictField):
    """The customer's own labels: at most 50 keys of 1 to 40 characters, values up to 500."""

    child = serializers.CharField(max_length=500, allow_blank=True, trim_whitespace=False)

    def to_internal_value(self, data: Any) -> Any:
        values = super().to_internal_value(data)
        if len(values) > 50:
            raise ValidationError("At most 50 keys.", code="too_many_keys")
        key = serializers.CharField(max_length=40)
        for name in values:
            key.run_validation(name)
        return values


class EmptyBody(Body):
    """A request that says nothing."""


class ErrorBody(serializers.Serializer):  # type: ignore[type-arg]
    """Why a resource failed."""

    code = serializers.CharField()
    message = serializers.CharField()


def page_of(name: str, row: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """The schema of one page of rows, for the OpenAPI document."""
    fields = {"data": row(many=True), "next_cursor": serializers.CharField(allow_null=True)}
    return type(name, (serializers.Serializer,), fields)
