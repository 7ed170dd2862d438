"""The accepted request bodies. DRF's settings import this module, so it imports no module of ours."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from email.message import Message
from typing import IO, Any

from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser

MAX_BODY_BYTES = 2 * 1024**2


def readable_type(content_type: str) -> str:
    """Return the media type under which Django may read a request: no parser takes another charset than UTF-8.

    Python knows encodings that are none of text. Under such a name Django could not even read the query.
    """
    header = Message()
    header["content-type"] = content_type
    charset = header.get_content_charset()
    try:
        known = charset is None or codecs.lookup(charset).name in {"utf-8", "ascii"}
    except LookupError:
        known = False
    return content_type if known else "application/octet-stream"


class BodyTooLarge(APIException):
    status_code = 413
    default_detail = f"A request body has at most {MAX_BODY_BYTES} bytes."
    default_code = "body_too_large"


class BoundedJSONParser(JSONParser):
    """JSON up to 2 MiB: media goes to object storage, never through the API."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        if int((parser_context or {})["request"].META.get("CONTENT_LENGTH") or 0) > MAX_BODY_BYTES:
            raise BodyTooLarge
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None
