"""Tool `object_lookup`: tracked objects by words, with the times at which they are visible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.answering.agent.tools.contract import NOTHING_FOUND, Observation, Text, Tool
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.agent.tools.object_memory import (
    LINE_TOKENS,
    TooWide,
    counted,
    first_events,
    object_line,
    read_memory,
)
from gpu_workers.engine.answering.agent.tools.object_sql import TOO_WIDE
from gpu_workers.engine.answering.agent.tools.object_words import categories_there, matching
from gpu_workers.engine.models.roles import embed_queries

OBJECTS_SHOWN = 20
"""Maximum number of objects that one look-up shows."""


def look_up(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
    """Return the objects that arguments["words"] mean, by video and number. Raises ModelError of the embedder."""
    try:
        memory = read_memory(desk)
    except TooWide as error:
        return Observation(str(error), TOO_WIDE)
    things = [shown.thing for shown in memory.objects]
    found = matching(arguments["words"], things, lambda texts: embedded(desk, texts))
    if not found.objects:
        return Observation(
            f"No object of that name is tracked. The object memory has: {categories_there(things)}.", NOTHING_FOUND
        )
    shown_of = {shown.thing.id: shown for shown in memory.objects}
    lines = [f"{counted(found.objects)} found{', by meaning: no object has that name' if found.by_meaning else ''}:"]
    if found.colour_missing:
        lines.append(f"None of them is {found.colour_missing}.")
    desk.sightings.noted(f"Tracked objects for {arguments['words']}: {' '.join(lines)}")
    count, room = desk.asked.models.reasoner.count_tokens, desk.observation_tokens
    objects: list[UUID] = []
    events: list[UUID] = []
    firsts = first_events(desk, [shown_of[thing.id] for thing in found.objects[:OBJECTS_SHOWN]])
    for thing in found.objects[:OBJECTS_SHOWN]:
        if objects and sum(map(count, lines)) + LINE_TOKENS > room:
            break
        line, first = object_line(desk, shown_of[thing.id], firsts)
        lines.append(line)
        objects.append(thing.id)
        events += [first] if first else []
    left = len(found.objects) - len(objects)
    if left:
        lines.append(f"{left} more are not shown.")
    return Observation("\n".join(lines), cut=left > 0, objects=tuple(objects), events=tuple(dict.fromkeys(events)))


def embedded(desk: Desk, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return unit rows for texts, the first as a query. Raises ModelError."""
    embedder = desk.asked.models.text_embedder
    query = embed_queries(embedder, texts[:1], meter=desk.meter)
    return np.concatenate([query, embedder.embed(texts[1:], meter=desk.meter)])


OBJECT_LOOKUP = Tool(
    name="object_lookup",
    description="Find tracked people, animals, vehicles and things by name and colour, and when they are seen.",
    arguments={"words": Text(120)},
    needs=frozenset({"objects"}),
    most=4,
    use=look_up,
)
