"""Replies that are files instead of JSON."""

from __future__ import annotations

from rest_framework.renderers import BaseRenderer, JSONRenderer


class AnyFile(BaseRenderer):
    """Lets a client ask for any type of file; the view writes the file itself."""

    media_type = "*/*"
    format = "file"
    charset = None

    def render(self, data: object, accepted_media_type: str | None = None, renderer_context: object = None) -> bytes:
        # Only a problem is rendered here: the file was refused before it began.
        return JSONRenderer().render(data)
