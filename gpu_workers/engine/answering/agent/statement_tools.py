"""Tools about what is stated or true: `relations`, who did what to whom and when, as the events state it, and `scan`,
of which events in scope a statement is true, by reading every one of them.

A search shows the events nearest to a question. It can neither count nor prove absence. A scan costs a call per batch
of events, so its price is known before it begins, and bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.tool import (
    NOTHING_FOUND,
    OUT_OF_RANGE,
    TOO_MANY,
    BadArguments,
    Millis,
    Observation,
    Text,
    Tool,
    VideoNumber,
    failed,
)
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.context import fitted
from gpu_workers.engine.answering.scanning import Scan
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.languages.words import content_words
from gpu_workers.engine.models.roles import embed_queries
from gpu_workers.engine.ports import EventPlace, StoredEvent, TimedRelation, Within
from gpu_workers.engine.retrieval.frames import ROWS, all_places

NEAREST = 16
"""Number of entities nearest to a subject or an object whose relations are read."""

EVENTS_READ = 256
"""Maximum number of events whose relations are read if neither subject nor object is named."""

RELATIONS_SHOWN, RELATION_TOKENS = 20, 60
"""Maximum number of relations that are shown, and of the tokens of one."""

SCAN_CALLS = 40
"""Maximum number of calls of one scan with a reasoner that is not small: 640 events."""

MOST_COUNTED = 200_000
"""Number of events up to which a refusal counts them."""

EVENTS_SHOWN, EVENT_TOKENS = 40, 50
"""Maximum number of events that a scan shows, and of the tokens of one."""


# --- relations -------------------------------------------------------------------------------------------------------


def _find_relations(toolbox: Toolbox, arguments: Mapping[str, Any]) -> Observation:
    """Return relations of the video that meet all conditions; if there is none, those that meet all but one, which the
    observation names: a strict query finds nothing too often, and a loose one never says why.

    Raises BadArguments, ModelError of the embedder.
    """
    video_id = toolbox.video(arguments["video"])
    if video_id is None:
        return Observation("There is no video in scope.", NOTHING_FOUND)
    extent, start_ms = toolbox.extents[video_id], arguments["start_ms"]
    end_ms = arguments["end_ms"] or extent.end_ms
    if end_ms <= start_ms < extent.end_ms:
        raise BadArguments("end_ms must be greater than start_ms, or 0 for the end.")
    span = Span(start_ms, end_ms).cut_to(extent) if start_ms < end_ms else None
    if span is None:
        end = extent.end_ms
        return Observation(f"The video ends at {end} ms ({clock(end, hours=True)}).", OUT_OF_RANGE)
    subject, predicate, thing = (as_data(arguments[name]) for name in ("subject", "predicate", "object"))
    conditions: dict[str, Callable[[TimedRelation], bool]] = {}
    if subject:
        conditions[f'subject "{subject}"'] = lambda relation: _alike(subject, relation.source)
    if thing:
        conditions[f'object "{thing}"'] = lambda relation: _alike(thing, relation.target)
    if span != extent:
        conditions[f"time {toolbox.place(video_id, span)}"] = lambda relation: relation.place.span.overlaps(span)
    if predicate:
        conditions[f'predicate "{predicate}"'] = lambda relation: _alike(predicate, relation.predicate)
    if not conditions:
        raise BadArguments("relations needs a subject, a predicate, an object or a time.")
    stated = _stated(toolbox, [words for words in (subject, thing) if words], video_id, span)
    # The last one is dropped first: how a model words a predicate is the least certain.
    for dropped in ("", *reversed(conditions)):
        kept = [holds for words, holds in conditions.items() if words != dropped]
        found = [relation for relation in stated if all(holds(relation) for holds in kept)]
        # Dropping the only condition would return everything.
        if found and kept:
            head = f"No relation meets all conditions. Without {dropped}, these do: {len(found)}"
            return _shown(toolbox, found, head if dropped else f"Relations that meet all conditions: {len(found)}")
    wanted = "; ".join(conditions)
    text = f"None of {len(stated)} relations read meets these conditions, or all but one of them: {wanted}."
    return Observation(text, NOTHING_FOUND)


RELATIONS = Tool(
    name="relations",
    description='Finds stated relations between people and things with their times; "" is any, end_ms 0 is any time.',
    arguments={
        "subject": Text(100, empty=True),
        "predicate": Text(100, empty=True),
        "object": Text(100, empty=True),
        "video": VideoNumber(),
        "start_ms": Millis(),
        "end_ms": Millis(),
    },
    needs=frozenset({"events"}),
    most=3,
    use=_find_relations,
)


def _alike(wanted: str, stated: str) -> bool:
    """Whether one of the two names says all that the other one says."""
    first, second = content_words(wanted), content_words(stated)
    return bool(first & second) and (first <= second or second <= first)


def _stated(toolbox: Toolbox, names: Sequence[str], video_id: UUID, span: Span) -> list[TimedRelation]:
    """Return the relations of the entities of the video nearest to the names; without names, of the entities in
    span."""
    graph = toolbox.asked.graph
    if names:
        vectors = embed_queries(toolbox.asked.models.text_embedder, names, meter=toolbox.meter)
        within = Within(video_id, toolbox.extents[video_id])
        hits = [hit for vector in vectors for hit in toolbox.search("entity", vector, NEAREST, within=within)]
        ids = list(dict.fromkeys(hit.item for hit in hits if hit.item is not None))
    else:
        places = graph.events_between(video_id, span, limit=EVENTS_READ)
        ids = list(dict.fromkeys(m.entity_id for m in graph.entities_of([place.event_id for place in places])))
    relations = graph.relations_of(ids, limit=ROWS) if ids else ()
    return [relation for relation in relations if relation.place.video_id == video_id]


def _shown(toolbox: Toolbox, found: Sequence[TimedRelation], head: str) -> Observation:
    loaded = {event.id: event for event in toolbox.load(relation.place.event_id for relation in found)}
    shown = [(relation, loaded[relation.place.event_id]) for relation in found if relation.place.event_id in loaded]

    def line(relation: TimedRelation, event: StoredEvent) -> str:
        words = as_data(f"{relation.source} {relation.predicate} {relation.target}")
        words += f": {as_data(relation.description)}" if relation.description else ""
        place = f"{toolbox.evidence.label_event(event)} {toolbox.place(event.video_id, event.span)}"
        return f"{place}: {fitted(words, toolbox.count_tokens, RELATION_TOKENS)}"

    drawn = (line(relation, event) for relation, event in shown[:RELATIONS_SHOWN])
    lines = toolbox.fitting_lines(drawn, toolbox.observation_tokens, line_tokens=RELATION_TOKENS)
    toolbox.evidence.add_note("Relations stated by the events: " + "; ".join(lines))
    cut = len(found) > len(lines)
    rest = [f"{len(found) - len(lines)} more are not shown."] if cut else []
    events = dict.fromkeys(event.id for _, event in shown[: len(lines)])
    return Observation("\n".join([head, *lines, *rest]), cut=cut, events=tuple(events))


# --- scan ------------------------------------------------------------------------------------------------------------


def _scan(toolbox: Toolbox, arguments: Mapping[str, Any]) -> Observation:
    """Judge every event in scope, in parallel, and show those of which the statement is true.

    The scan refuses, with its price, if it would take more calls than are allowed or more than the budget holds next to
    an answer. What an earlier scan has judged is not paid for again. Events without a verdict are counted and never
    taken for a no. Raises Halt, after what was found before has been noted.
    """
    places = list(islice(all_places(toolbox.asked.graph), MOST_COUNTED + 1))
    if not places:
        return Observation("There is no event in scope.", NOTHING_FOUND)
    judging = Scan(toolbox.asked, toolbox.calls, arguments["predicate"])
    calls = -(-sum(place.event_id not in judging.known for place in places) // judging.size)
    most = judging.most_calls if judging.small else min(SCAN_CALLS, judging.most_calls)
    counted = f"more than {MOST_COUNTED}" if len(places) > MOST_COUNTED else str(len(places))
    advice = "Search instead, or say that the question names too much time."
    if calls > most:
        text = f"A scan of {counted} events takes {calls} calls; at most {most} calls are allowed. {advice}"
        return Observation(text, TOO_MANY)
    events = toolbox.load(place.event_id for place in places)
    if len(judging.fitting(events)) < len(events):
        price = judging.price_in_words(events, judging.price(events))
        return Observation(f"The budget does not hold a scan of {price}. {advice}", TOO_MANY)
    verdicts = judging.run(events, meter=toolbox.meter)
    if not verdicts.read and verdicts.halt is None:
        return failed(verdicts.error or "unreadable")
    true = [event for event in events if event.id in verdicts.true]
    observation = _true_events(toolbox, judging.statement, places, true, verdicts.read)
    if verdicts.halt is not None:
        raise verdicts.halt
    return observation


SCAN = Tool(
    name="scan",
    description="Reads every event in scope for where a statement is true: for how often, every, never. Expensive.",
    arguments={"predicate": Text(200)},
    needs=frozenset({"events"}),
    most=1,
    use=_scan,
)


def _true_events(
    toolbox: Toolbox, statement: str, places: Sequence[EventPlace], true: Sequence[StoredEvent], read: int
) -> Observation:
    """Return the events of which the statement is true, numbered, as many as fit; and how complete the scan is."""
    times = len(separate_times(places, frozenset(event.id for event in true)))
    whole = read == len(places)
    all_read = f"all {len(places)} events" if whole else f"{read} of {len(places)} events"
    # An event that was not read may join two times into one.
    least, about = ("", "") if whole else ("at least ", "about ")
    result = f'"{as_data(statement)}" is true of {least}{len(true)} events, at {about}{times} separate times'
    toolbox.evidence.add_note(f"Scan of {all_read}: {result}.")
    drawn = (toolbox.event_line(event, most_tokens=EVENT_TOKENS) for event in true[:EVENTS_SHOWN])
    lines = toolbox.fitting_lines(drawn, toolbox.observation_tokens, line_tokens=EVENT_TOKENS)
    rest = [f"{len(true) - len(lines)} more are not shown."] if len(true) > len(lines) else []
    shown = tuple(event.id for event in true[: len(lines)])
    return Observation("\n".join([f"Read {all_read}. {result}.", *lines, *rest]), cut=bool(rest), events=shown)


def separate_times(places: Sequence[EventPlace], true: frozenset[UUID]) -> list[list[UUID]]:
    """Return the events of which a statement is true, joined to separate times: events that follow each other in a
    video are one time. places: of every event in scope, in order."""
    times: list[list[UUID]] = []
    before: EventPlace | None = None
    for place in places:
        if place.event_id in true:
            if before is not None and before.event_id in true and place.follows(before):
                times[-1].append(place.event_id)
            else:
                times.append([place.event_id])
        before = place
    return times
