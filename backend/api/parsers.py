"""The accepted request bodies. DRF's settings import this module, so it imports no module of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser

MAX_BODY_BYTES = 2 * 1024**2


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
