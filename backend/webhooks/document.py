"""The `webhooks` part of the OpenAPI document: what an endpoint is sent, out of frontend_api_schema/webhooks/."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backend.webhooks.payloads import EVENT_TYPES

SCHEMAS = Path(__file__).parents[2] / "frontend_api_schema" / "webhooks"

_HEADERS = {
    "webhook-id": "Id of the event, the same in each attempt: act on it once.",
    "webhook-timestamp": "When this attempt was sent, in seconds since 1970.",
    "webhook-signature": "Signatures by the endpoint's secret, parted by spaces (Standard Webhooks).",
}
_REPLIES = {
    "2XX": "Delivered.",
    "410": "The endpoint is gone: it is disabled, and nothing more is sent.",
    "default": "Not delivered. It is sent again, each time after a longer pause.",
}


def webhooks(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Postprocessing hook: one entry for each type of event."""
    result["webhooks"] = {event_type: {"post": _delivery(event_type)} for event_type in EVENT_TYPES}
    return result


def _delivery(event_type: str) -> dict[str, Any]:
    schema = json.loads((SCHEMAS / f"{event_type}.json").read_text())
    # The document has one dialect for all of its schemas.
    del schema["$schema"]
    words = event_type.replace(".", "_").split("_")
    return {
        "operationId": "receive" + "".join(word.capitalize() for word in words),
        "summary": schema.pop("title"),
        "description": EVENT_TYPES[event_type],
        "tags": ["Webhooks"],
        "security": [],
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": text, "schema": {"type": "string"}}
            for name, text in _HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {status: {"description": text} for status, text in _REPLIES.items()},
    }
