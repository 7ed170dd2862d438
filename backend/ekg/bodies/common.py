"""What the bodies of several parts of an index share: pictures, columns, and when rows were filmed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from backend.library.models import Video
from backend.library.storage import ObjectStorage
from backend.library.wall_clocks import fitted_clocks
from gpu_workers.engine.clock_evidence import FittedClock


def picture(storage: ObjectStorage, key: str) -> str | None:
    """Return the URL of a picture; None if there is none, or if the tenant's retention removed it."""
    return storage.presign_get(key) if key else None


def clocks_of(video_ids: Iterable[UUID]) -> dict[UUID, FittedClock]:
    """Return the clock of each video."""
    return fitted_clocks(Video.objects.filter(id__in=set(video_ids)))


def columns(row: object, *names: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def _lists(item: dict[str, Any], length: int) -> dict[str, Any]:
    return {
        "type": "array",
        "items": {"type": "array", "items": item, "minItems": length, "maxItems": length},
    }


@extend_schema_field(_lists({"type": "integer"}, 2))
class SpansField(serializers.JSONField):
    """Lists of begin and end, in milliseconds."""


@extend_schema_field(_lists({"type": "number"}, 5))
class BoxesField(serializers.JSONField):
    """Lists of a time in milliseconds and four coordinates."""


@extend_schema_field(_lists({"anyOf": [{"type": "integer"}, {"type": "string"}]}, 3))
class SpokenWordsField(serializers.JSONField):
    """Lists of begin and end in milliseconds, and a word."""
