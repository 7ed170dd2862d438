from __future__ import annotations

from typing import Any

from gpu_workers.engine.answering.reading.expressions import Expression

TIMES_SCHEMA: dict[str, Any] = {"type": "array", "items": {"type": "object"}, "maxItems": 4}


def times_from(fields: object) -> tuple[Expression, ...] | None:
    return () if fields == [] else None
