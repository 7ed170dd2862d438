"""Sources of recordings in the OpenAPI document: one schema for each type, which the field `type` distinguishes."""

from __future__ import annotations

from typing import Any

from backend.library.models import SourceType

NAMES = {
    SourceType.UPLOAD: "UploadSourceRequest",
    SourceType.URL: "UrlSourceRequest",
    SourceType.SEGMENTS: "SegmentsSourceRequest",
}
_NEEDS = {SourceType.UPLOAD: "upload_id", SourceType.URL: "url"}
_WORDS = {
    SourceType.UPLOAD: "A finished upload.",
    SourceType.URL: "A file at a URL.",
    SourceType.SEGMENTS: "Segments, which are appended one by one.",
}
_CHOICES = {
    "VideoSourceRequest": (SourceType.UPLOAD, SourceType.URL, SourceType.SEGMENTS),
    "InputSegmentSourceRequest": (SourceType.UPLOAD, SourceType.URL),
}


def sources(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Postprocessing hook: the sources of requests as a choice of schemas, each with the field of its type."""
    schemas = result["components"]["schemas"]
    fields = schemas["VideoSourceRequest"]["properties"]
    for source, name in NAMES.items():
        needed = [_NEEDS[source]] if source in _NEEDS else []
        schemas[name] = {
            "type": "object",
            "description": _WORDS[source],
            "properties": {"type": {"const": source.value}, **{field: fields[field] for field in needed}},
            "required": ["type", *needed],
        }
    for name, choices in _CHOICES.items():
        references = {source.value: f"#/components/schemas/{NAMES[source]}" for source in choices}
        schemas[name] = {
            "description": schemas[name].get("description", "Where the segment comes from: an upload or a URL."),
            "oneOf": [{"$ref": reference} for reference in references.values()],
            "discriminator": {"propertyName": "type", "mapping": references},
        }
    return result
