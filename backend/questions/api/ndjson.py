"""Replies of newline-delimited JSON, written a page at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.utils.encoders import JSONEncoder


class JsonLinesRenderer(BaseRenderer):
    """Lets a client ask for newline-delimited JSON; the view writes the lines itself."""

    media_type = "application/x-ndjson"
    format = "ndjson"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        # Only a problem is rendered here: the stream was refused before it began.
        return JSONRenderer().render(data)


def lines_response(pages: Iterator[Iterable[Mapping[str, Any]]]) -> StreamingHttpResponse:
    """Return a reply with one body a line; a page is made when the one before it is sent."""
    content = (b"".join(_line(body) for body in page) for page in pages)
    response = StreamingHttpResponse(content, content_type=JsonLinesRenderer.media_type)
    # The links to frames are valid for 30 minutes.
    response.headers["Cache-Control"] = "no-store"
    return response


def _line(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, cls=JSONEncoder, separators=(",", ":")).encode() + b"\n"
