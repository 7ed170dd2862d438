"""Tool `object_sql`: a SELECT over the tracked objects of the scope, in a copy of their rows (ADR 18)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.tool import BAD_ARGUMENTS, NOTHING_FOUND, Observation, Text, Tool
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.agent.tools.object_memory import (
    LINE_TOKENS,
    TOO_WIDE,
    ObjectMemory,
    ScopeObject,
    TooWide,
    counted,
    first_events,
    object_line,
    read_memory,
)
from gpu_workers.engine.answering.agent.tools.sql_guard import (
    MAX_SQL,
    SelectResult,
    SqlRefused,
    closed_connection,
    select,
)
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.retrieval.object_names import categories_there

TABLES: Mapping[str, str] = {
    "objects": "object_id, video, category, colour, first_ms, last_ms, visible_ms, times_seen, entries, exits, "
    "confidence",
    "appearances": "object_id, video, start_ms, end_ms",
    "object_events": "object_id, event",
}
"""Columns by table. object_id: n of O<n>. event: n of E<n>. confidence: that it is one thing and no other object."""

_SCRIPT = "".join(f"CREATE TABLE {name} ({columns});" for name, columns in TABLES.items()) + (
    "CREATE INDEX objects_by_id ON objects (object_id);"
    "CREATE INDEX appearances_by_object ON appearances (object_id);"
    "CREATE INDEX events_by_object ON object_events (object_id);"
)


def object_tables(objects: Sequence[ScopeObject]) -> sqlite3.Connection:
    """Return a database in memory with TABLES filled from objects, for one sql_guard.select()."""
    spans = ((shown.number, shown.video, s.start_ms, s.end_ms) for shown in objects for s in shown.thing.spans)
    events = ((shown.number, number) for shown in objects for number, _ in shown.events)
    connection = closed_connection(_SCRIPT)
    connection.execute("BEGIN")
    connection.executemany(_insert("objects"), map(_object_row, objects))
    connection.executemany(_insert("appearances"), spans)
    connection.executemany(_insert("object_events"), events)
    connection.execute("COMMIT")
    return connection


def query_objects(toolbox: Toolbox, arguments: Mapping[str, Any]) -> Observation:
    """Run arguments["sql"] over a fresh copy of the scope's objects.

    Objects and events whose numbers stand in a column object_id or event of the rows shown count as seen.
    """
    statement: str = arguments["sql"]
    try:
        memory = read_memory(toolbox)
        result = select(object_tables(memory.objects), statement, tables=TABLES)
    except TooWide as error:
        return Observation(str(error), TOO_WIDE)
    except SqlRefused as error:
        return Observation(as_data(str(error)), BAD_ARGUMENTS)
    if not result.rows:
        there = categories_there([shown.thing for shown in memory.objects])
        return Observation(f"0 rows. The object memory has: {there}.", NOTHING_FOUND)
    return _shown(toolbox, statement, memory, result)


_DESCRIPTION = (
    "Run one SQLite SELECT over the tracked objects. Tables: "
    + "; ".join(f"{name}({columns})" for name, columns in TABLES.items())
    + ". object_id is the number of O<n>, event that of E<n>, times are in ms. Select object_id and not COUNT: the "
    "number of rows is told, and only objects and events that are selected can be cited."
)

OBJECT_SQL = Tool("object_sql", _DESCRIPTION, {"sql": Text(MAX_SQL)}, frozenset({"objects"}), 4, query_objects)


def _insert(table: str) -> str:
    values = ", ".join("?" for _ in TABLES[table].split(", "))
    return f"INSERT INTO {table} VALUES ({values})"  # noqa: S608 - a name of TABLES


def _object_row(shown: ScopeObject) -> tuple[object, ...]:
    thing = shown.thing
    times = (thing.spans[0].start_ms, thing.spans[-1].end_ms, sum(span.duration_ms for span in thing.spans))
    seen = (len(thing.spans), thing.entries, thing.exits, thing.confidence)
    return (shown.number, shown.video, thing.category, thing.colour, *times, *seen)


def _shown(toolbox: Toolbox, statement: str, memory: ObjectMemory, result: SelectResult) -> Observation:
    """Return the rows, and what they name, within the tokens of an observation; half of them are for the rows."""
    count = toolbox.asked.models.reasoner.count_tokens
    room = toolbox.observation_tokens
    left_out = f" ({result.left_out} more columns are not shown)" if result.left_out else ""
    lines = [f"{_amount(memory, result)}{left_out}", " | ".join(as_data(name) for name in result.columns)]
    used, shown = sum(map(count, lines)), 0
    for row in result.rows:
        line = " | ".join(_cells(memory, result.columns, row))
        if shown and used + count(line) > room // 2:
            break
        lines.append(line)
        used, shown = used + count(line), shown + 1
    cut = shown < len(result.rows) or result.more
    if shown < len(result.rows):
        lines.append(f"{len(result.rows) - shown} rows more are not shown: select fewer columns, or use LIMIT.")
    toolbox.evidence.add_note(f"Object memory, {statement[:200]} -> {' ; '.join((lines[0], *lines[2:]))}")
    named = _named(memory, result.columns, result.rows[:shown])
    if not named:
        lines.append("These rows name no object and no event, so nothing of them can be cited. Select object_id.")
    firsts = first_events(toolbox, [thing for thing in named if isinstance(thing, ScopeObject)])
    loaded = {event.id: event for event in toolbox.load([thing for thing in named if isinstance(thing, UUID)])}
    objects: list[UUID] = []
    events: list[UUID] = []
    for thing in named:
        if used + LINE_TOKENS > room:
            cut = True
            break
        if isinstance(thing, ScopeObject):
            line, first = object_line(toolbox, thing, firsts)
            objects.append(thing.thing.id)
            events += [first] if first else []
        elif thing in loaded:
            line = toolbox.event_line(loaded[thing], most_tokens=LINE_TOKENS)
            events.append(thing)
        else:
            continue
        lines.append(line)
        used += count(line)
    return Observation("\n".join(lines), cut=cut, objects=tuple(objects), events=tuple(dict.fromkeys(events)))


def _amount(memory: ObjectMemory, result: SelectResult) -> str:
    """Return the number of rows; "about" if they are objects of which one may be counted twice."""
    if result.more:
        return f"More than {len(result.rows)} rows; the first {len(result.rows)}:"
    names = [name.lower() for name in result.columns]
    numbers = [row[names.index("object_id")] for row in result.rows] if "object_id" in names else []
    objects = [
        named.thing for number in numbers if isinstance(named := _meant(memory, "object_id", number), ScopeObject)
    ]
    amount = counted(objects) if len(set(numbers)) == len(objects) == len(result.rows) else str(len(result.rows))
    return f"{amount} row{'' if len(result.rows) == 1 else 's'}:"


def _meant(memory: ObjectMemory, column: str, value: object) -> ScopeObject | UUID | None:
    """Return the object, or the id of the event, that a cell names; None if it names neither."""
    if not isinstance(value, int):
        return None
    if column == "object_id":
        return memory.by_number.get(value)
    return memory.event_ids.get(value) if column == "event" else None


def _cells(memory: ObjectMemory, columns: Sequence[str], row: Sequence[object]) -> Iterator[str]:
    for name, value in zip(columns, row, strict=True):
        if _meant(memory, name.lower(), value):
            yield f"{'O' if name.lower() == 'object_id' else 'E'}{value}"
        else:
            yield "" if value is None else as_data(f"{value:.6g}" if isinstance(value, float) else str(value))


def _named(memory: ObjectMemory, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[ScopeObject | UUID]:
    """Return the objects, and the ids of the events, that the rows name, each once, in the order of the rows."""
    named: dict[UUID, ScopeObject | UUID] = {}
    for row in rows:
        for name, value in zip(columns, row, strict=True):
            if (thing := _meant(memory, name.lower(), value)) is not None:
                named.setdefault(thing.thing.id if isinstance(thing, ScopeObject) else thing, thing)
    return list(named.values())
