"""One query per view, written by the reasoner (AVA, section 5.1; the authors' code asks three times, we ask once)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_workers.engine.models.served.structured import storable
from gpu_workers.engine.retrieval.tri_view import ViewQueries

_QUERY_FIELDS: Mapping[str, Any] = {name: {"type": "string"} for name in ("keywords", "entity", "scene")}


def rewrite_schema() -> dict[str, Any]:
    return _object(_QUERY_FIELDS)


def requery_schema(*, per_view: bool) -> dict[str, Any]:
    """Return the JSON schema of a new search. per_view: RQ and its rewriting in one call; else keywords alone."""
    text = {"type": "string"}
    return _object({"missing": text, "sub_query": text, **_QUERY_FIELDS} if per_view else {"keywords": text})


def read_queries(fields: Mapping[str, Any], *, fallback: str) -> ViewQueries:
    """Return the queries of a reply. A field that is missing, empty or no words (or list of them) becomes fallback."""

    def field(name: str) -> str:
        value = fields.get(name)
        words = value if isinstance(value, list) else [value]
        return storable(" ".join(word for word in words if isinstance(word, str))).strip() or fallback

    return ViewQueries(field("keywords"), field("entity"), field("scene"))


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
