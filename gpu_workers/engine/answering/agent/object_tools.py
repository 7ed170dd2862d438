"""The object memory of a question's scope, and the tools that read it: `object_lookup` by words, and `object_sql` by a
SELECT over a copy of its rows (ADR 18)."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.answering.agent.sql_guard import (
    MAX_SQL,
    SelectResult,
    SqlRefused,
    closed_connection,
    select,
)
from gpu_workers.engine.answering.agent.tool import BAD_ARGUMENTS, NOTHING_FOUND, Observation, Text, Tool
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.observer.categories import moves_itself
from gpu_workers.engine.models.roles import embed_queries
from gpu_workers.engine.ports import EventPlace, StoredEvent, StoredObject
from gpu_workers.engine.retrieval.frames import all_places
from gpu_workers.engine.retrieval.object_names import Matches, categories_there, matching, names_alone
from gpu_workers.engine.retrieval.object_search import (
    RankedObjects,
    rank_by_pictures,
    rank_by_words,
    visible_in,
)

MAX_OBJECTS, MAX_APPEARANCES, MAX_EVENTS = 20_000, 100_000, 100_000
"""Maximum number of objects, of spans in which they are visible, and of events that one question's memory copies."""

UNSURE = 0.7
"""Confidence below which an object may be another one seen again: its looks fit two objects, or one that it does not
join (indexing.objects)."""

CROWD = 12
"""Number of things that move by themselves from which their number is "about": tracks break where people cross."""

LEAST_MS = 500
"""Time for which an object is visible in an event that shows it. An event that ends sooner hardly mentions it."""

SPANS_SHOWN, OBJECTS_SHOWN = 4, 20
"""Maximum number of times of one object, and of objects, that a look-up shows."""

LINE_TOKENS = 80
"""Tokens of an object's or an event's line, an upper estimate that leaves it out before it counts as seen."""

TOO_WIDE = "too_wide"
"""Code of an observation about a scope with more objects than are copied."""


class TooWide(Exception):
    """The scope has more objects or events than one question may copy. The message says what to do."""

    def __init__(self) -> None:
        super().__init__(
            f"The scope has more than {MAX_OBJECTS} objects, {MAX_APPEARANCES} appearances or {MAX_EVENTS} events. "
            "The object memory can be asked if the question names fewer videos or a time span."
        )


@dataclass(frozen=True, slots=True)
class ScopeObject:
    """An object with the numbers that the question knows it by. number: n of O<n>. video: the video's number. events:
    the events in which it is visible, with n of their E<n>, in order of time."""

    number: int
    video: int
    thing: StoredObject
    events: tuple[tuple[int, EventPlace], ...]


@dataclass(frozen=True)
class ObjectMemory:
    """The objects of a scope, each with its numbers."""

    objects: tuple[ScopeObject, ...]

    @property
    def categories(self) -> str:
        """Return which categories there are, in words."""
        return categories_there([shown.thing for shown in self.objects])


def read_memory(toolbox: Toolbox) -> ObjectMemory:
    """Read the objects in scope and give each of them, and each of their events, its number. Raises TooWide."""
    graph, log = toolbox.asked.graph, toolbox.evidence
    things = graph.objects(limit=MAX_OBJECTS + 1)
    places = list(islice(all_places(graph), MAX_EVENTS + 1)) if things else []
    appearances = sum(len(thing.spans) for thing in things)
    if len(things) > MAX_OBJECTS or appearances > MAX_APPEARANCES or len(places) > MAX_EVENTS:
        raise TooWide
    of_video: defaultdict[UUID, list[EventPlace]] = defaultdict(list)
    for place in places:
        of_video[place.video_id].append(place)
    seen_in = {thing.id: tuple(visible_in(thing, of_video[thing.video_id])) for thing in things if thing.spans}
    visible = {place.event_id for events in seen_in.values() for place in events}
    for place in places:
        if place.event_id in visible:
            log.events.reserve(place.event_id)
    return ObjectMemory(
        tuple(
            ScopeObject(
                log.objects.reserve(thing.id),
                toolbox.numbers.get(thing.video_id, 0),
                thing,
                tuple((log.events.reserve(place.event_id), place) for place in seen_in[thing.id]),
            )
            for thing in things
            if thing.id in seen_in
        )
    )


def moment_of(shown: ScopeObject) -> EventPlace | None:
    """Return the first event in which the object's first appearance lasts LEAST_MS, or else lasts longest; None without
    any event."""
    first = shown.thing.spans[0]
    overlaps = [
        (min(first.end_ms, place.span.end_ms) - max(first.start_ms, place.span.start_ms), place)
        for _, place in shown.events
    ]
    enough = min(LEAST_MS, max((overlap for overlap, _ in overlaps), default=0))
    return next((place for overlap, place in overlaps if overlap >= enough), None)


def first_events(toolbox: Toolbox, things: Iterable[ScopeObject]) -> dict[UUID, StoredEvent]:
    """Return the events of the objects' first appearances by id, read at once. They do not count as seen by this."""
    places = (moment_of(shown) for shown in things)
    return {event.id: event for event in toolbox.load(place.event_id for place in places if place is not None)}


def object_name(thing: StoredObject) -> str:
    """Return an object's colour and category, as data."""
    return as_data(f"{thing.colour} {thing.category}".strip())


def _counted(things: Sequence[StoredObject]) -> str:
    """Return the number of the objects, with "about" where tracks may have counted one thing twice."""
    crowd = sum(moves_itself(thing.category) for thing in things) > CROWD
    return f"about {len(things)}" if crowd or any(thing.confidence < UNSURE for thing in things) else f"{len(things)}"


def _with_lines(
    toolbox: Toolbox, head: Sequence[str], named: Sequence[ScopeObject | UUID], *, left_out: int = 0
) -> Observation:
    """Return head, then a line for each object and for each event that named has the id of, as many as fit, numbered as
    seen. left_out: number of further ones that are not in named."""
    firsts = first_events(toolbox, [thing for thing in named if isinstance(thing, ScopeObject)])
    events = {event.id: event for event in toolbox.load(thing for thing in named if isinstance(thing, UUID))} | firsts
    objects: list[UUID] = []
    seen: dict[UUID, None] = {}

    def line(item: ScopeObject | UUID) -> str:
        if isinstance(item, UUID):
            seen[item] = None
            return toolbox.event_line(events[item], most_tokens=LINE_TOKENS)
        thing, place = item.thing, moment_of(item)
        spans = [toolbox.place(thing.video_id, span) for span in thing.spans[:SPANS_SHOWN]]
        if len(thing.spans) > SPANS_SHOWN:
            spans.append(f"and {len(thing.spans) - SPANS_SHOWN} more times")
        name = f"{toolbox.evidence.label_object(thing)} {object_name(thing)}"
        parts = [f"{name}: {', '.join(spans)}", f"entered {thing.entries}, left {thing.exits}"]
        objects.append(thing.id)
        if place is not None and place.event_id in events:
            seen[place.event_id] = None
            parts.append(f"first in {toolbox.evidence.label_event(events[place.event_id])}")
        parts += ["perhaps the same as another"] if thing.confidence < UNSURE else []
        return "; ".join(parts)

    known = [item for item in named if isinstance(item, ScopeObject) or item in events]
    room = toolbox.observation_tokens - sum(map(toolbox.count_tokens, head))
    lines = toolbox.fitting_lines(map(line, known), room, line_tokens=LINE_TOKENS)
    left_out += len(known) - len(lines)
    rest = [f"{left_out} more are not shown."] if left_out else []
    text = "\n".join([*head, *lines, *rest])
    return Observation(text, cut=left_out > 0, objects=tuple(objects), events=tuple(seen))


# --- object_lookup ---------------------------------------------------------------------------------------------------


def _look_up(toolbox: Toolbox, arguments: Mapping[str, Any]) -> Observation:
    """Return the objects that arguments["words"] mean. Those of a name and a colour come by video and number, those of
    a longer description by how well they fit it. Raises ModelError of an embedder."""
    words: str = arguments["words"]
    try:
        memory = read_memory(toolbox)
    except TooWide as error:
        return Observation(str(error), TOO_WIDE)
    things = [shown.thing for shown in memory.objects]
    found = matching(words, things, lambda texts: embedded(toolbox, texts))
    ranked = None if names_alone(words, things) else _ranked(toolbox, words, found.objects)
    objects = found.objects if ranked is None else tuple(one.thing for one in ranked.objects)
    if not objects:
        return Observation(
            f"No object of that name is tracked. The object memory has: {memory.categories}.", NOTHING_FOUND
        )
    lines = _heading(found, ranked)
    toolbox.evidence.add_note(f"Tracked objects for {words}: {' '.join(lines)}")
    shown_of = {shown.thing.id: shown for shown in memory.objects}
    listed = [shown_of[thing.id] for thing in objects[:OBJECTS_SHOWN] if thing.id in shown_of]
    return _with_lines(toolbox, lines, listed, left_out=len(objects) - len(listed))


def _ranked(toolbox: Toolbox, words: str, named: Sequence[StoredObject]) -> RankedObjects | None:
    """Return the objects that fit a description, best first: all of the scope by their pictures, or without pictures
    the named ones by what is known of them in words; None if there are none."""
    models, graph, meter = toolbox.asked.models, toolbox.asked.graph, toolbox.meter
    by_pictures = rank_by_pictures(graph, words, limit=OBJECTS_SHOWN, embedder=models.frame_embedder, meter=meter)
    if by_pictures:
        return RankedObjects("pictures", tuple(by_pictures))
    by_words = rank_by_words(graph, words, named, embedder=models.text_embedder, meter=meter)
    return RankedObjects("words", tuple(by_words)) if by_words else None


def _heading(found: Matches, ranked: RankedObjects | None) -> list[str]:
    by_meaning = ", by meaning: no object has that name" if found.by_meaning else ""
    count = f"{_counted(found.objects)} found{by_meaning}"
    colour = [f"None of them is {found.colour_missing}."] if found.colour_missing else []
    if ranked is None:
        return [f"{count}:", *colour]
    if ranked.compared_by == "words":
        return [f"{count}, best fit first by their names and events:", *colour]
    by_name = [f"By name and colour alone: {count}.", *colour] if found.objects else []
    return [*by_name, "Nearest first, by their pictures; this is an order and no count:"]


def embedded(toolbox: Toolbox, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return unit rows for texts, the first as a query. Raises ModelError."""
    embedder = toolbox.asked.models.text_embedder
    query = embed_queries(embedder, texts[:1], meter=toolbox.meter)
    return np.concatenate([query, embedder.embed(texts[1:], meter=toolbox.meter)])


OBJECT_LOOKUP = Tool(
    name="object_lookup",
    description="Find tracked people, animals, vehicles and things by name and colour, or by a description such as "
    "'a man with a blue backpack', and when they are seen.",
    arguments={"words": Text(120)},
    needs=frozenset({"objects"}),
    most=4,
    use=_look_up,
)


# --- object_sql ------------------------------------------------------------------------------------------------------

_Meant = dict[tuple[str, object], ScopeObject | UUID]

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
    rows: dict[str, Iterable[tuple[object, ...]]] = {
        "objects": map(_object_row, objects),
        "appearances": (
            (shown.number, shown.video, s.start_ms, s.end_ms) for shown in objects for s in shown.thing.spans
        ),
        "object_events": ((shown.number, number) for shown in objects for number, _ in shown.events),
    }
    connection = closed_connection(_SCRIPT)
    connection.execute("BEGIN")
    for table, columns in TABLES.items():
        values = ", ".join("?" for _ in columns.split(", "))
        connection.executemany(f"INSERT INTO {table} VALUES ({values})", rows[table])  # noqa: S608 - a name of TABLES
    connection.execute("COMMIT")
    return connection


def _object_row(shown: ScopeObject) -> tuple[object, ...]:
    thing = shown.thing
    times = (thing.spans[0].start_ms, thing.spans[-1].end_ms, sum(span.duration_ms for span in thing.spans))
    seen = (len(thing.spans), thing.entries, thing.exits, thing.confidence)
    return (shown.number, shown.video, thing.category, thing.colour, *times, *seen)


def _query_objects(toolbox: Toolbox, arguments: Mapping[str, Any]) -> Observation:
    """Run arguments["sql"] over a fresh copy of the scope's objects, and show the rows and what they name.

    Objects and events whose numbers stand in a column object_id or event of the rows shown count as seen. Half of the
    tokens of an observation are for the rows.
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
        return Observation(f"0 rows. The object memory has: {memory.categories}.", NOTHING_FOUND)
    columns = [name.lower() for name in result.columns]
    # What a cell names, by its column and its value.
    meant: _Meant = {("object_id", one.number): one for one in memory.objects}
    meant |= {("event", number): place.event_id for one in memory.objects for number, place in one.events}
    left_out = f" ({result.left_out} more columns are not shown)" if result.left_out else ""
    head = [f"{_amount(meant, columns, result)}{left_out}", " | ".join(map(as_data, result.columns))]
    drawn = (" | ".join(_cells(meant, columns, row)) for row in result.rows)
    rows = toolbox.fitting_lines(drawn, toolbox.observation_tokens // 2, line_tokens=LINE_TOKENS)
    hidden = len(result.rows) - len(rows)
    rest = [f"{hidden} rows more are not shown: select fewer columns, or use LIMIT."] if hidden else []
    toolbox.evidence.add_note(f"Object memory, {statement[:200]} -> {' ; '.join((head[0], *rows, *rest))}")
    named: dict[UUID, ScopeObject | UUID] = {}
    for row in result.rows[: len(rows)]:
        for cell in zip(columns, row, strict=True):
            if (item := meant.get(cell)) is not None:
                named.setdefault(item if isinstance(item, UUID) else item.thing.id, item)
    if not named:
        rest.append("These rows name no object and no event, so nothing of them can be cited. Select object_id.")
    shown = _with_lines(toolbox, [*head, *rows, *rest], list(named.values()))
    return replace(shown, cut=shown.cut or bool(hidden) or result.more)


def _amount(meant: _Meant, columns: Sequence[str], result: SelectResult) -> str:
    """Return the number of rows; "about" if they are objects of which one may be counted twice."""
    if result.more:
        return f"More than {len(result.rows)} rows; the first {len(result.rows)}:"
    numbers = {row[columns.index("object_id")] for row in result.rows} if "object_id" in columns else set()
    objects = [one.thing for n in numbers if isinstance(one := meant.get(("object_id", n)), ScopeObject)]
    amount = _counted(objects) if len(objects) == len(result.rows) else str(len(result.rows))
    return f"{amount} row{'' if len(result.rows) == 1 else 's'}:"


def _cells(meant: _Meant, columns: Sequence[str], row: Sequence[object]) -> Iterator[str]:
    for column, value in zip(columns, row, strict=True):
        if (column, value) in meant:
            yield f"{'O' if column == 'object_id' else 'E'}{value}"
        else:
            yield "" if value is None else as_data(f"{value:.6g}" if isinstance(value, float) else str(value))


OBJECT_SQL = Tool(
    "object_sql",
    "Run one SQLite SELECT over the tracked objects. Tables: "
    + "; ".join(f"{name}({columns})" for name, columns in TABLES.items())
    + ". object_id is the number of O<n>, event that of E<n>, times are in ms. Select object_id and not COUNT: the "
    "number of rows is told, and only objects and events that are selected can be cited.",
    {"sql": Text(MAX_SQL)},
    frozenset({"objects"}),
    4,
    _query_objects,
)
