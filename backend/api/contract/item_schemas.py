"""Replies of many JSON texts in the OpenAPI document: a reply is text, and `contentSchema` describes each item of it.

OpenAPI 3.1 has no word of its own for the schema of a line of NDJSON, or of the data of a server-sent event.
"""

from __future__ import annotations

from typing import Any

STREAMED = ("application/x-ndjson", "text/event-stream", "text/plain")


def of_streams(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Postprocessing hook: take the schema of a streamed reply as that of one item."""
    for operations in result["paths"].values():
        for operation in operations.values():
            for reply in operation["responses"].values():
                for media_type, content in reply.get("content", {}).items():
                    if media_type in STREAMED:
                        item = content["schema"]
                        _allow_overlap(result["components"]["schemas"], item)
                        content["schema"] = {
                            "type": "string",
                            "contentMediaType": "application/json",
                            "contentSchema": item,
                        }
    return result


def _allow_overlap(schemas: dict[str, Any], item: dict[str, Any]) -> None:
    """Let an item match several schemas of a choice: what has been answered so far looks like progress as well."""
    choice = schemas.get(str(item.get("$ref")).rpartition("/")[2], {})
    if "oneOf" in choice:
        choice["anyOf"] = choice.pop("oneOf")
