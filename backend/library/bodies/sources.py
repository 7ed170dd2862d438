"""Sources of recordings and of their segments."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.library.models import SourceType


def names_its_own(source: dict[str, Any]) -> dict[str, Any]:
    """Return a source that has the field of its type and of no other type. Raises ValidationError."""
    needs = {SourceType.UPLOAD: "upload_id", SourceType.URL: "url"}.get(SourceType(source["type"]))
    for name in ("upload_id", "url"):
        if name == needs and name not in source:
            raise serializers.ValidationError({name: "A source of this type needs this field."}, code="required")
        if name != needs and name in source:
            raise serializers.ValidationError(
                {name: "A source of this type has no such field."}, code="not_of_this_type"
            )
    return source
