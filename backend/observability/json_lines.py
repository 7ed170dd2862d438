"""Log lines as JSON: one object a line, with the fields of the current work and the trace that it belongs to.

Only named fields come out. What a library attaches to a record (such as Django's request, with its query) does not.
"""

from __future__ import annotations

import logging
import re
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import format_trace_id
from pythonjsonlogger.json import JsonFormatter

from backend.observability import log_context

REQUEST_FIELDS = ("method", "status", "ms")
"""Fields of the line that the API writes for each request."""
REFUSAL_FIELDS = ("reason", "key")
"""Fields of the line about a key that was refused: why, and its public id."""
_SHOWN = frozenset(
    {"time", "level", "logger", "message", "exc_info", "trace", *log_context.NAMES, *REQUEST_FIELDS, *REFUSAL_FIELDS},
)  # fmt: skip
_SIGNED = re.compile(r"(X-Amz-[A-Za-z-]{1,40}|AWSAccessKeyId|Signature|\btoken)=[^&\s\"'<>\\]*", re.IGNORECASE)

# Django names the path of a refused request, and the path of these pages is a secret.
_LINKS = re.compile(
    r"(/share/|/accounts/invitations/|/accounts/notices/tnt_[A-Za-z0-9]+/|/accounts/password/reset/key/)[A-Za-z0-9_-]+"
)


class JsonLines(JsonFormatter):
    """Formats a record as one line of JSON. time: UTC, ISO 8601."""

    def __init__(self) -> None:
        super().__init__(
            ["levelname", "name", "message"], rename_fields={"levelname": "level", "name": "logger"}, timestamp="time"
        )

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        super().add_fields(log_data, record, message_dict)
        # Django attaches its request object under the name of one of our fields.
        for name in log_context.NAMES:
            log_data.pop(name, None)
        log_data.update(log_context.current())
        span = trace.get_current_span().get_span_context()
        if span.is_valid:
            log_data["trace"] = format_trace_id(span.trace_id)

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        return {name: _masked(value) for name, value in log_data.items() if name in _SHOWN}


def _masked(value: Any) -> Any:
    """Return value without the credentials of presigned URLs and links: who reads the log could open what they open."""
    return _LINKS.sub(r"\1***", _SIGNED.sub(r"\1=***", value)) if isinstance(value, str) else value
