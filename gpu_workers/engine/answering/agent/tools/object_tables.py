"""The objects of a question's scope as tables in memory, for SELECTs that a model writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.sql_guard import closed_connection
from gpu_workers.engine.ports import EventPlace, StoredObject

TABLES: Mapping[str, str] = {
    "objects": "object_id, video, category, colour, first_ms, last_ms, visible_ms, times_seen, entries, exits, "
    "confidence",
    "appearances": "object_id, video, start_ms, end_ms",
    "object_events": "object_id, event",
}
"""Columns by table. object_id: n of O<n>. event: n of E<n>. confidence: that it is one thing and no other object."""

MAX_OBJECTS = 20_000
"""Maximum number of objects that are copied. A scope with more is too wide for one question's memory."""

MAX_APPEARANCES = 100_000
"""Maximum number of spans in which these objects are visible."""

_SCRIPT = "".join(f"CREATE TABLE {name} ({columns});" for name, columns in TABLES.items()) + (
    "CREATE INDEX objects_by_id ON objects (object_id);"
    "CREATE INDEX appearances_by_object ON appearances (object_id);"
    "CREATE INDEX events_by_object ON object_events (object_id);"
)


@dataclass(frozen=True, slots=True)
class ScopeObject:
    """An object with the numbers that the question knows it by. number: n of O<n>. video: the video's number. events:
    the events in which it is visible, with n of their E<n>, in order of time."""

    number: int
    video: int
    thing: StoredObject
    events: tuple[tuple[int, EventPlace], ...]


def object_tables(objects: Sequence[ScopeObject]) -> sqlite3.Connection:
    """Return a database in memory with TABLES filled from objects, for one sql_guard.select()."""
    connection = closed_connection(_SCRIPT)
    connection.execute("BEGIN")
    connection.executemany(_insert("objects"), map(_object_row, objects))
    connection.executemany(_insert("appearances"), _appearances(objects))
    connection.executemany(
        _insert("object_events"), ((shown.number, number) for shown in objects for number, _ in shown.events)
    )
    connection.execute("COMMIT")
    return connection


def events_of_object(thing: StoredObject, places: Mapping[UUID, Sequence[EventPlace]]) -> Iterator[EventPlace]:
    """Yield the events in which the object is visible for at least 1 ms, in order of time. places: the events of each
    video, in order of time; events of one video do not overlap."""
    of_video = places.get(thing.video_id, ())
    at = 0
    for span in thing.spans:
        at = _first_ending_after(of_video, span.start_ms, at)
        while at < len(of_video) and of_video[at].span.start_ms < span.end_ms:
            yield of_video[at]
            at += 1


def _first_ending_after(places: Sequence[EventPlace], ms: int, low: int) -> int:
    high = len(places)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if places[middle].span.end_ms <= ms else (low, middle)
    return low


def _insert(table: str) -> str:
    values = ", ".join("?" for _ in TABLES[table].split(", "))
    return f"INSERT INTO {table} VALUES ({values})"  # noqa: S608 - a name of TABLES


def _object_row(shown: ScopeObject) -> tuple[object, ...]:
    thing = shown.thing
    return (
        shown.number,
        shown.video,
        thing.category,
        thing.colour,
        thing.spans[0].start_ms,
        thing.spans[-1].end_ms,
        sum(span.duration_ms for span in thing.spans),
        len(thing.spans),
        thing.entries,
        thing.exits,
        thing.confidence,
    )


def _appearances(objects: Iterable[ScopeObject]) -> Iterator[tuple[int, int, int, int]]:
    for shown in objects:
        for span in shown.thing.spans:
            yield shown.number, shown.video, span.start_ms, span.end_ms
