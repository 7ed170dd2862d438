"""Which events of a scope a scan reads, and in which order: those that its statement points to, and others from all
over the scope."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from uuid import UUID

from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.routes.matching import WordedEvent, WordMatch, worded
from gpu_workers.engine.models.roles import ModelError, embed_queries
from gpu_workers.engine.ports import StoredEvent, ViewName, ViewQuery
from gpu_workers.engine.retrieval.frames import spread_first
from gpu_workers.engine.retrieval.tri_view import MOST_EXACT, NO_VECTOR

MOST_EVENTS = 20_000
"""Maximum number of events whose words are read, some 60 hours; of a wider scope the nearest ones, and others that are
spread over it."""

NEAREST = 2_000
"""Number of events nearest to the statement in meaning, and in words, that are read first."""

PAGE = 512
"""Number of events that are loaded at once."""


def read_events(toolbox: Toolbox, statement: str, readable: Sequence[UUID]) -> list[StoredEvent]:
    """Return the events whose words are read, in order: all that are readable, or MOST_EVENTS of a wider scope."""
    return loaded(toolbox, readable if len(readable) <= MOST_EVENTS else _most_promising(toolbox, statement, readable))


def with_words(toolbox: Toolbox, words: str, readable: Sequence[UUID]) -> tuple[list[StoredEvent], bool]:
    """Return the readable events that have the words, by the index of words, and whether these are all of them: at most
    MOST_EXACT events are returned. A phrase must be in an event as it is."""
    known, exact = set(readable), (words,) if " " in words else ()
    queries: dict[ViewName, ViewQuery] = {"words": ViewQuery(NO_VECTOR, MOST_EXACT, text=words, exact=exact)}
    hits = toolbox.asked.graph.search_views(queries)["words"]
    ids = [event_id for event_id in dict.fromkeys(hit.event_id for hit in hits) if event_id in known]
    return loaded(toolbox, ids), len(hits) < MOST_EXACT


def doubtful(toolbox: Toolbox, statement: str, by_words: WordMatch, events: Sequence[StoredEvent]) -> list[StoredEvent]:
    """Return the events on which words do not decide, most promising first: by shared words and by similarity."""
    by_id = {event.id: event for event in events}
    ranks: dict[UUID, float] = {}
    for listed in (by_words.maybe, _nearest(toolbox, statement, NEAREST)):
        for rank, event_id in enumerate(listed):
            if event_id in by_id and event_id not in by_words.sure:
                ranks[event_id] = ranks.get(event_id, 0.0) + 1.0 / (60 + rank)
    return [by_id[event_id] for event_id in sorted(ranks, key=lambda event_id: -ranks[event_id])]


def _nearest(toolbox: Toolbox, statement: str, limit: int) -> list[UUID]:
    """Return the events nearest to the statement in meaning; none if the embedder fails."""
    try:
        vector = embed_queries(toolbox.asked.models.text_embedder, [statement], meter=toolbox.meter)[0]
    except ModelError:
        return []
    floor = toolbox.asked.settings.retrieval.floor
    return [
        hit.event_id
        for hit in toolbox.asked.graph.search_views({"event": ViewQuery(vector, limit)}, floor=floor)["event"]
    ]


def _most_promising(toolbox: Toolbox, statement: str, readable: Sequence[UUID]) -> list[UUID]:
    """Return MOST_EVENTS of the events of a large scope, in their order: those nearest to the statement in meaning and
    in words, and others spread over all of the scope."""
    known = set(readable)
    words: dict[ViewName, ViewQuery] = {"words": ViewQuery(NO_VECTOR, NEAREST, text=statement)}
    by_words = [hit.event_id for hit in toolbox.asked.graph.search_views(words)["words"]]
    near = [event_id for event_id in (*_nearest(toolbox, statement, NEAREST), *by_words) if event_id in known]
    chosen = dict.fromkeys([*near, *(readable[index] for index in spread_first(len(readable)))])
    taken = set(islice(chosen, MOST_EVENTS))
    return [event_id for event_id in readable if event_id in taken]


def others(events: Sequence[StoredEvent], first: Sequence[StoredEvent]) -> list[StoredEvent]:
    """Return the other events, each beginning of the list spread over all of them."""
    before = {event.id for event in first}
    rest = [event for event in events if event.id not in before]
    return [rest[index] for index in spread_first(len(rest))]


def loaded(toolbox: Toolbox, event_ids: Sequence[UUID]) -> list[StoredEvent]:
    pages = (event_ids[at : at + PAGE] for at in range(0, len(event_ids), PAGE))
    return [event for page in pages for event in toolbox.load(page)]


def worded_events(toolbox: Toolbox, events: Sequence[StoredEvent]) -> list[WordedEvent]:
    """Return the events' words, with the names of who takes part."""
    names: dict[UUID, list[str]] = {}
    for at in range(0, len(events), PAGE):
        for mention in toolbox.asked.graph.entities_of([event.id for event in events[at : at + PAGE]]):
            names.setdefault(mention.event_id, []).append(mention.name)
    return [worded(event, names.get(event.id, ())) for event in events]
