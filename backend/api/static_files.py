"""Compression of our own scripts and style sheets, which no proxy in front needs to do."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

_TEXTS = ("text/", "application/json", "image/svg+xml")


class CompressedStatic(GZipMiddleware):
    """Compresses static files that are text, for browsers that take gzip. Replies of the API stay as they are."""

    # The files are public, so their length gives nothing away.
    max_random_bytes = 0

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_text = response.headers.get("Content-Type", "").startswith(_TEXTS)
        if not is_text or response.status_code != 200 or not request.path.startswith(settings.STATIC_URL):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        # WhiteNoise knows no weak ETag: browsers ask again by the time of the last change.
        compressed.headers.pop("ETag", None)
        return compressed
