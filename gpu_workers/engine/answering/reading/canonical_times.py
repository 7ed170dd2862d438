"""The times of a question as a reasoner returns them: a JSON schema, and its reading as expressions.

A reply chooses times and nothing else: it is checked against the schema, and the words of each time must be the
customer's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gpu_workers.engine.answering.reading.expressions import (
    CENTRE,
    CLOSING,
    OPENING,
    SECOND_MS,
    Clocked,
    ClockTime,
    Day,
    Edge,
    Expression,
    Fraction,
    Frame,
    NamedTime,
    Order,
    PartOfDay,
)

MOST_TIMES = 31
"""Maximum number of times of one question."""

_CLOCKED = ("at", "between", "since", "until", "day")
_WHOLE = {"beginning": OPENING, "middle": CENTRE, "end": CLOSING}
_ORDERS = ("after", "before", "during", "between_events")
_KINDS = (*_CLOCKED, "first", "last", "fraction", *_WHOLE, *_ORDERS)
_FRAMES: Mapping[str, Frame] = {"either": "any", "video": "video", "wall": "wall", "picture": "shown"}
_PARTS = {
    "": None,
    "morning": PartOfDay(5, 12),
    "afternoon": PartOfDay(12, 18),
    "evening": PartOfDay(18, 23),
    "night": PartOfDay(21, 30),
    "weekend": PartOfDay(0, 48),
}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_NUMBER = {"type": "integer"}
_PROPERTIES: Mapping[str, Mapping[str, Any]] = {
    "words": {"type": "string", "description": "The customer's words that name this time, copied."},
    "kind": {"type": "string", "enum": list(_KINDS)},
    "clock": {
        "type": "string",
        "enum": list(_FRAMES),
        "description": "Whose time start and end are. either: the words leave open whether of video or wall clock.",
    },
    "start": {"type": "string", "description": 'H:MM:SS, MM:SS or "3 pm"; of fraction "1/2" begins the second half.'},
    "end": {"type": "string", "description": 'As start; of fraction "2/2" ends the second half. "" if not named.'},
    "approximate": {"type": "boolean", "description": 'As in "around three".'},
    "day": {
        "type": "string",
        "description": '"", "today", "3 days ago", "monday", "2026-05-03", "05-03", "day 2" or "last day".',
    },
    "part_of_day": {"type": "string", "enum": list(_PARTS)},
    "every_day": {"type": "boolean", "description": 'As in "every morning".'},
    "seconds": {"type": "integer", "description": "Length of first or last; distance of after or before; else 0."},
    "within": {"type": "boolean", "description": "Whether seconds is the longest distance from the event."},
    "nth": {"type": "integer", "description": "Which occurrence of event: 1 the first, -1 the last, 0 each of them."},
    "event": {"type": "string", "description": "The event of after, before, during, between_events, in English."},
    "last_nth": _NUMBER,
    "last_event": {"type": "string", "description": "The second event of between_events, in English."},
}

TIMES_SCHEMA: Mapping[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": _PROPERTIES,
        "required": list(_PROPERTIES),
        "additionalProperties": False,
    },
}
"""The times that a question names; an empty list if it names none."""


def times_from(fields: object) -> tuple[Expression, ...] | None:
    """Return the expressions of a reply that follows TIMES_SCHEMA; None if it does not, or means no time."""
    if not isinstance(fields, list) or len(fields) > MOST_TIMES:
        return None
    try:
        return tuple(_expression(each) for each in fields)
    except (ValueError, KeyError, TypeError):
        return None


def named_time_from(fields: object, question: str, earlier: Sequence[str] = ()) -> NamedTime | None:
    """Return the times of a reply as the customer named them; None if it is invalid, names none, or has words that
    neither the question nor an earlier question of the conversation has."""
    expressions = times_from(fields)
    if not expressions or not isinstance(fields, list):
        return None
    words = [" ".join(each["words"].split()) for each in fields]
    said = [" ".join(text.split()) for text in (question, *earlier)]
    if not all(any(piece and piece.lower() in text.lower() for text in said) for piece in words):
        return None
    remaining = said[0]
    for piece in words:
        remaining = re.sub(re.escape(piece), " ", remaining, count=1, flags=re.IGNORECASE)
    remaining = re.sub(r"\s+([?.,!])", r"\1", " ".join(remaining.split())).lstrip(" ,.;:-")
    return NamedTime(", ".join(dict.fromkeys(words)), expressions, remaining)


def _expression(fields: Mapping[str, Any]) -> Expression:
    """Raises ValueError, KeyError or TypeError for fields that do not follow the schema or contradict each other."""
    if fields.keys() != _PROPERTIES.keys():
        raise ValueError("fields of the schema are missing or unknown")
    for name, rule in _PROPERTIES.items():
        expected = {"string": str, "integer": int, "boolean": bool}[rule["type"]]
        if type(fields[name]) is not expected or fields[name] not in rule.get("enum", [fields[name]]):
            raise ValueError(f"{name} is invalid")
    kind, seconds = fields["kind"], fields["seconds"]
    if kind in _CLOCKED:
        return _clocked(fields)
    if kind in _WHOLE:
        return _WHOLE[kind]
    if kind in ("first", "last"):
        if seconds <= 0:
            raise ValueError("a length is missing")
        return Edge(kind, seconds * SECOND_MS)
    if kind == "fraction":
        (start, of), (end, other) = (map(int, fields[name].split("/")) for name in ("start", "end"))
        if of != other or not 0 <= start < end <= of:
            raise ValueError("no part of a whole")
        return Fraction(start, end, of)
    return _order(fields)


def _clocked(fields: Mapping[str, Any]) -> Clocked:
    kind, part, day = fields["kind"], _PARTS[fields["part_of_day"]], _day(fields["day"])
    start, end = (_clock_time(fields[name]) for name in ("start", "end"))
    needed = {"at": (True, False), "between": (True, True), "since": (True, False), "until": (False, True)}
    if (start is not None, end is not None) != needed.get(kind, (False, False)):
        raise ValueError("start and end do not fit the kind")
    if kind == "day" and day is None and part is None:
        raise ValueError("a day is missing")
    if part is not None and (part.end == 48 or fields["every_day"]):
        day = day or (Day(weekday=5) if part.end == 48 else None)
        part = PartOfDay(part.start, part.end, every=fields["every_day"] and part.end != 48)
    frame = _FRAMES[fields["clock"]]
    if (day is not None or part is not None) and frame != "shown":
        frame = "wall"
    return Clocked(kind, start, end, day, part, frame, fields["approximate"])


def _clock_time(text: str) -> ClockTime | None:
    if not text.strip():
        return None
    match = re.fullmatch(r"(\d{1,3})(?::([0-5]\d))?(?::([0-5]\d))?\s*([ap])?\.?(?:m\.?)?", text.strip().lower())
    if match is None or (match[4] and not 1 <= int(match[1]) <= 12):
        raise ValueError(f"{text!r} is no time of a clock")
    parts = tuple(int(part) for part in match.groups()[:3] if part is not None)
    return ClockTime(parts, "" if not match[4] else "am" if match[4] == "a" else "pm", spoken=bool(match[4]))


def _day(text: str) -> Day | None:
    text = text.strip().lower()
    if not text:
        return None
    if text in _WEEKDAYS:
        return Day(weekday=_WEEKDAYS.index(text))
    if text in ("today", "yesterday"):
        return Day(ago=int(text == "yesterday"))
    if match := re.fullmatch(r"(\d{1,4}) days? ago", text):
        return Day(ago=int(match[1]))
    if match := re.fullmatch(r"day (\d{1,4})|last day", text):
        return Day(nth=int(match[1] or -1))
    match = re.fullmatch(r"(?:(\d{4})-)?(\d{1,2})-(\d{1,2})", text)
    if match is None or not (1 <= int(match[2]) <= 12 and 1 <= int(match[3]) <= 31):
        raise ValueError(f"{text!r} is no day")
    return Day(month=int(match[2]), day=int(match[3]), year=int(match[1]) if match[1] else None)


def _order(fields: Mapping[str, Any]) -> Order:
    kind, nth, event, seconds = (fields[name] for name in ("kind", "nth", "event", "seconds"))
    between = kind == "between_events"
    if not event.strip() or nth < -1 or (nth == 0 and kind != "during") or seconds < 0:
        raise ValueError("no occurrence of an event")
    if between and (not fields["last_event"].strip() or fields["last_nth"] < -1 or fields["last_nth"] == 0):
        raise ValueError("no second event")
    away = seconds * SECOND_MS if kind in ("after", "before") else 0
    return Order(
        "between" if between else kind,
        nth,
        event.strip(),
        at_ms=0 if fields["within"] else away,
        within_ms=away if fields["within"] else 0,
        last_nth=fields["last_nth"] if between else 0,
        last_anchor=fields["last_event"].strip() if between else "",
    )
