"""Replies of newline-delimited JSON, written a page at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.utils import OpenApiResponse, PolymorphicProxySerializer
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.utils.encoders import JSONEncoder


class JsonLinesRenderer(BaseRenderer):
    """Lets a client ask for newline-delimited JSON; the view writes the lines itself."""

    media_type = "application/x-ndjson"
    format = "ndjson"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        # Only a problem is rendered here: the stream was refused before it began.
        return JSONRenderer().render(data)


class TextLinesRenderer(JsonLinesRenderer):
    """The same lines as text, for clients that know no newline-delimited JSON."""

    media_type = "text/plain"


RENDERERS: Sequence[type[BaseRenderer]] = (JsonLinesRenderer, TextLinesRenderer, JSONRenderer)


def described(
    line: type[serializers.BaseSerializer[Any]] | PolymorphicProxySerializer, about: str
) -> dict[tuple[int, str], OpenApiResponse]:
    """Return the reply for the OpenAPI document. Some generators drop every reply but JSON, text and bytes."""
    kinds = (JsonLinesRenderer, TextLinesRenderer)
    return {(200, kind.media_type): OpenApiResponse(line, about) for kind in kinds}


def lines_response(request: Request, pages: Iterator[Iterable[Mapping[str, Any]]]) -> StreamingHttpResponse:
    """Return a reply with one body a line; a page is made when the one before it is sent."""
    content = (b"".join(_line(body) for body in page) for page in pages)
    kind = TextLinesRenderer if isinstance(request.accepted_renderer, TextLinesRenderer) else JsonLinesRenderer
    response = StreamingHttpResponse(content, content_type=kind.media_type)
    # The links to frames are valid for 30 minutes.
    response.headers["Cache-Control"] = "no-store"
    return response


def _line(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, cls=JSONEncoder, separators=(",", ":")).encode() + b"\n"
