"""Replies of many JSON texts in the OpenAPI document: a reply is text, and `x-item-schema` describes one item of it.

OpenAPI 3.1 has no word of its own for the schema of a line of NDJSON, or of the data of a server-sent event.
"""

from __future__ import annotations

from typing import Any

STREAMED = ("application/x-ndjson", "text/event-stream")


def of_streams(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Postprocessing hook: take the schema of a streamed reply as that of one item."""
    for operations in result["paths"].values():
        for operation in operations.values():
            for reply in operation["responses"].values():
                for media_type, content in reply.get("content", {}).items():
                    if media_type in STREAMED:
                        content["x-item-schema"] = content["schema"]
                        content["schema"] = {"type": "string"}
    return result
