"""Tool `object_sql`: a SELECT over the tracked objects of the scope, in a copy of their rows (ADR 18)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.contract import BAD_ARGUMENTS, NOTHING_FOUND, Observation, Text, Tool
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.agent.tools.object_memory import (
    LINE_TOKENS,
    ObjectMemory,
    TooWide,
    counted,
    first_events,
    object_line,
    read_memory,
)
from gpu_workers.engine.answering.agent.tools.object_tables import TABLES, ScopeObject, object_tables
from gpu_workers.engine.answering.agent.tools.object_words import categories_there
from gpu_workers.engine.answering.agent.tools.sql_guard import MAX_SQL, Result, SqlRefused, select
from gpu_workers.engine.answering.wording import as_data

TOO_WIDE = "too_wide"
"""Code of an observation about a scope with more objects than are copied."""


def query_objects(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
    """Run arguments["sql"] over a fresh copy of the scope's objects.

    Objects and events whose numbers stand in a column object_id or event of the rows shown count as seen.
    """
    statement: str = arguments["sql"]
    try:
        memory = read_memory(desk)
        result = select(object_tables(memory.objects), statement, tables=TABLES)
    except TooWide as error:
        return Observation(str(error), TOO_WIDE)
    except SqlRefused as error:
        return Observation(as_data(str(error)), BAD_ARGUMENTS)
    if not result.rows:
        there = categories_there([shown.thing for shown in memory.objects])
        return Observation(f"0 rows. The object memory has: {there}.", NOTHING_FOUND)
    return _shown(desk, statement, memory, result)


def _shown(desk: Desk, statement: str, memory: ObjectMemory, result: Result) -> Observation:
    """Return the rows, and what they name, within the tokens of an observation; half of them are for the rows."""
    count = desk.asked.models.reasoner.count_tokens
    room = desk.observation_tokens
    lines = [f"{_amount(memory, result)}{_left_out(result)}", " | ".join(as_data(name) for name in result.columns)]
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
    desk.sightings.noted(f"Object memory, {statement[:200]} -> {' ; '.join((lines[0], *lines[2:]))}")
    named = _named(memory, result.columns, result.rows[:shown])
    if not named:
        lines.append("These rows name no object and no event, so nothing of them can be cited. Select object_id.")
    firsts = first_events(desk, [thing for thing in named if isinstance(thing, ScopeObject)])
    loaded = {event.id: event for event in desk.load([thing for thing in named if isinstance(thing, UUID)])}
    objects: list[UUID] = []
    events: list[UUID] = []
    for thing in named:
        if used + LINE_TOKENS > room:
            cut = True
            break
        if isinstance(thing, ScopeObject):
            line, first = object_line(desk, thing, firsts)
            objects.append(thing.thing.id)
            events += [first] if first else []
        elif thing in loaded:
            line = desk.event_line(loaded[thing], most_tokens=LINE_TOKENS)
            events.append(thing)
        else:
            continue
        lines.append(line)
        used += count(line)
    return Observation("\n".join(lines), cut=cut, objects=tuple(objects), events=tuple(dict.fromkeys(events)))


def _amount(memory: ObjectMemory, result: Result) -> str:
    """Return the number of rows; "about" if they are objects of which one may be counted twice."""
    if result.more:
        return f"More than {len(result.rows)} rows; the first {len(result.rows)}:"
    numbers = [
        row[_column(result.columns, "object_id")] for row in result.rows if "object_id" in _names(result.columns)
    ]
    objects = [shown.thing for number in numbers if (shown := _object(memory, number)) is not None]
    amount = counted(objects) if len(set(numbers)) == len(objects) == len(result.rows) else str(len(result.rows))
    return f"{amount} row{'' if len(result.rows) == 1 else 's'}:"


def _left_out(result: Result) -> str:
    return f" ({result.left_out} more columns are not shown)" if result.left_out else ""


def _names(columns: Sequence[str]) -> list[str]:
    return [name.lower() for name in columns]


def _column(columns: Sequence[str], name: str) -> int:
    return _names(columns).index(name)


def _object(memory: ObjectMemory, value: object) -> ScopeObject | None:
    return memory.by_number.get(value) if isinstance(value, int) else None


def _event(memory: ObjectMemory, value: object) -> UUID | None:
    return memory.event_ids.get(value) if isinstance(value, int) else None


def _cells(memory: ObjectMemory, columns: Sequence[str], row: Sequence[object]) -> Iterator[str]:
    for name, value in zip(_names(columns), row, strict=True):
        if name == "object_id" and _object(memory, value):
            yield f"O{value}"
        elif name == "event" and _event(memory, value):
            yield f"E{value}"
        else:
            yield "" if value is None else as_data(f"{value:.6g}" if isinstance(value, float) else str(value))


def _named(memory: ObjectMemory, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[ScopeObject | UUID]:
    """Return the objects, and the ids of the events, that the rows name, each once, in the order of the rows."""
    named: dict[UUID, ScopeObject | UUID] = {}
    for row in rows:
        for name, value in zip(_names(columns), row, strict=True):
            thing = _object(memory, value) if name == "object_id" else None
            event = _event(memory, value) if name == "event" else None
            if thing is not None:
                named.setdefault(thing.thing.id, thing)
            elif event is not None:
                named.setdefault(event, event)
    return list(named.values())


_DESCRIPTION = (
    "Run one SQLite SELECT over the tracked objects. Tables: "
    + "; ".join(f"{name}({columns})" for name, columns in TABLES.items())
    + ". object_id is the number of O<n>, event that of E<n>, times are in ms. Select object_id and not COUNT: the "
    "number of rows is told, and only objects and events that are selected can be cited."
)

OBJECT_SQL = Tool(
    name="object_sql",
    description=_DESCRIPTION,
    arguments={"sql": Text(MAX_SQL)},
    needs=frozenset({"objects"}),
    most=4,
    use=query_objects,
)
