"""Server-sent events on the wire."""

from __future__ import annotations

import json
from typing import Any

from drf_spectacular.utils import OpenApiResponse
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.utils.encoders import JSONEncoder

MEDIA_TYPE = "text/event-stream"


class EventStreamRenderer(BaseRenderer):
    """Lets a client ask for text/event-stream; the view writes the stream itself."""

    media_type = MEDIA_TYPE
    format = "sse"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        # Only a problem is rendered here: the stream was refused before it began.
        return JSONRenderer().render(data)


def event(name: str, data: Any, *, id: str = "") -> bytes:
    """Return one event with JSON data. id: what a client that connects again sends in Last-Event-ID; "" for none."""
    head = f"id: {id}\n" if id else ""
    return f"{head}event: {name}\ndata: {json.dumps(data, cls=JSONEncoder, separators=(',', ':'))}\n\n".encode()


def stream_response(description: str, data: Any) -> dict[Any, OpenApiResponse]:
    """Return the schema of a stream, for the OpenAPI document. data: serializer of the data of one event."""
    return {(200, MEDIA_TYPE): OpenApiResponse(data, description)}
