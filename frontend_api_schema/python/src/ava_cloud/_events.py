"""Server-sent events: the lines of a stream, as the HTML standard reads them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event. type: such as `progress`, `partial`, `node` or `answer`. data: its JSON. id: the last id so far."""

    type: str
    data: Any
    id: str


class EventReader:
    """Puts lines together to events."""

    def __init__(self) -> None:
        self.last_id = ""
        self._type, self._data = "", list[str]()

    def line(self, line: str) -> StreamEvent | None:
        """Take a line without its end. Returns the event that it completes."""
        if not line:
            data, kind = "\n".join(self._data), self._type or "message"
            self._type, self._data = "", []
            return StreamEvent(kind, json.loads(data), self.last_id) if data else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._type = value
        elif name == "data":
            self._data.append(value)
        elif name == "id":
            self.last_id = value
        return None
