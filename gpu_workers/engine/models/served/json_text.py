"""Reading the JSON object that a model wrote: inside prose, or cut off before its end."""

from __future__ import annotations

import json
import re
from typing import Any

_DECODER = json.JSONDecoder(strict=False)
_BEGINNING = re.compile(r'\{\s*(?=["}])')
_FIELD = re.compile(r'\s*,?\s*("(?:[^"\\]|\\.)*")\s*:\s*', re.DOTALL)
_NEXT_ITEM = re.compile(r"[\s,]*")


def read_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in text, whatever stands around it; None without a whole one, or if it is nested too deep.

    An object inside another one that cannot be read is never taken for it.
    """
    begins = _BEGINNING.search(text)
    if begins is None:
        return None
    try:
        value, _ = _DECODER.raw_decode(text, begins.start())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def salvaged(text: str) -> dict[str, Any]:
    """Return what is complete of a JSON object that was cut off: whole fields, and of a cut list its whole items."""
    begins = _BEGINNING.search(text)
    fields: dict[str, Any] = {}
    at = begins.end() if begins else len(text)
    while field := _FIELD.match(text, at):
        name = json.loads(field[1], strict=False)
        try:
            value, at = _DECODER.raw_decode(text, field.end())
        except ValueError:
            if items := _items(text, field.end()):
                fields[name] = items
            return fields
        if at == len(text) and isinstance(value, int | float):
            # Digits may be missing.
            return fields
        fields[name] = value
    return fields


def rows_of(text: str, field: str) -> list[Any]:
    """Return the items of a list in the JSON object in text, of a list that was cut off its whole items; [] without the
    list, and if the text is nested too deep to be read."""
    try:
        rows = (read_object(text) or salvaged(text)).get(field)
    except RecursionError:
        return []
    return rows if isinstance(rows, list) else []


def _items(text: str, at: int) -> list[Any]:
    """Return the whole items of the list that begins at a place in text; [] if none begins there."""
    items: list[Any] = []
    if text[at : at + 1] != "[":
        return items
    at += 1
    while at < len(text):
        gap = _NEXT_ITEM.match(text, at)
        at = gap.end() if gap else at
        try:
            value, at = _DECODER.raw_decode(text, at)
        except ValueError:
            break
        if at < len(text):
            items.append(value)
    return items
