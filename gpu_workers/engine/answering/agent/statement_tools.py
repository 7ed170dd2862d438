"""`relations`: who did what to whom, and when, as the events state it.

All conditions first. If no relation meets them, one condition is dropped at a time, and the observation names it: a
strict query finds nothing too often, and a loose one never says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
from gpu_workers.engine.answering.scan_price import CALL_TOKENS, EVENT_TOKENS, NUMBER_TOKENS, VERDICT_TOKENS
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

MOST_SHOWN = 20
LINE_TOKENS = 60
"""Maximum tokens of one relation."""


@dataclass(frozen=True, slots=True)
class _Condition:
    """One condition of a query. words: for the reasoner."""

    words: str
    holds: Callable[[TimedRelation], bool]


def find_relations(toolbox: Toolbox, arguments: Mapping[str, Any]) -> Observation:
    """Return relations of the video that meet the conditions. Raises BadArguments, ModelError of the embedder."""
    video_id = toolbox.video(arguments["video"])
    if video_id is None:
        return Observation("There is no video in scope.", NOTHING_FOUND)
    span, given = _span(toolbox, video_id, arguments["start_ms"], arguments["end_ms"])
    if span is None:
        end = toolbox.extents[video_id].end_ms
        return Observation(f"The video ends at {end} ms ({clock(end, hours=True)}).", OUT_OF_RANGE)
    subject, predicate, thing = (as_data(arguments[name]) for name in ("subject", "predicate", "object"))
    # The last one is dropped first: how a model words a predicate is the least certain.
    conditions = (
        *_worded("subject", subject, lambda relation: relation.source),
        *_worded("object", thing, lambda relation: relation.target),
        *((_in_time(toolbox, video_id, span),) if given else ()),
        *_worded("predicate", predicate, lambda relation: relation.predicate),
    )
    if not conditions:
        raise BadArguments("relations needs a subject, a predicate, an object or a time.")
    named = [words for words in (subject, thing) if words]
    stated = [relation for relation in _stated(toolbox, named, video_id, span) if relation.place.video_id == video_id]
    found, dropped = _strict_first(stated, conditions)
    if not found:
        wanted = "; ".join(condition.words for condition in conditions)
        text = f"None of {len(stated)} relations read meets these conditions, or all but one of them: {wanted}."
        return Observation(text, NOTHING_FOUND)
    return _shown(toolbox, found, dropped)


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
    use=find_relations,
)


def _span(toolbox: Toolbox, video_id: UUID, start_ms: int, end_ms: int) -> tuple[Span | None, bool]:
    """Return the time that is asked for, cut to the video, and whether it is a condition; None beyond the video's end.
    Raises BadArguments."""
    extent = toolbox.extents[video_id]
    if end_ms == 0:
        end_ms = extent.end_ms
    if end_ms <= start_ms and start_ms < extent.end_ms:
        raise BadArguments("end_ms must be greater than start_ms, or 0 for the end.")
    start, end = max(start_ms, extent.start_ms), min(end_ms, extent.end_ms)
    whole = start == extent.start_ms and end == extent.end_ms
    return (Span(start, end) if start < end else None), not whole


def _worded(name: str, words: str, part: Callable[[TimedRelation], str]) -> tuple[_Condition, ...]:
    """Return the condition on the words of one part of a relation; none without words."""
    wanted = content_words(words)

    def holds(relation: TimedRelation) -> bool:
        there = content_words(part(relation))
        return bool(wanted & there) and (wanted <= there or there <= wanted)

    return (_Condition(f'{name} "{words}"', holds),) if words else ()


def _in_time(toolbox: Toolbox, video_id: UUID, span: Span) -> _Condition:
    def holds(relation: TimedRelation) -> bool:
        return relation.place.span.overlaps(span)

    return _Condition(f"time {toolbox.place(video_id, span)}", holds)


def _strict_first(
    stated: Sequence[TimedRelation], conditions: Sequence[_Condition]
) -> tuple[list[TimedRelation], _Condition | None]:
    """Return the relations that meet all conditions and None; or those that meet all but one, and that one."""
    for dropped in (None, *reversed(conditions)):
        kept = [condition for condition in conditions if condition is not dropped]
        found = [relation for relation in stated if all(condition.holds(relation) for condition in kept)]
        # Dropping the only condition would return everything.
        if found and kept:
            return found, dropped
    return [], None


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
    return list(graph.relations_of(ids, limit=ROWS)) if ids else []


def _shown(toolbox: Toolbox, found: Sequence[TimedRelation], dropped: _Condition | None) -> Observation:
    count = toolbox.asked.models.reasoner.count_tokens
    events = {event.id: event for event in toolbox.load(relation.place.event_id for relation in found[:MOST_SHOWN])}
    lines: list[str] = []
    shown: list[UUID] = []
    room = toolbox.observation_tokens
    for relation in found[:MOST_SHOWN]:
        event = events.get(relation.place.event_id)
        if event is None:
            continue
        words = as_data(f"{relation.source} {relation.predicate} {relation.target}")
        if relation.description:
            words = f"{words}: {as_data(relation.description)}"
        words = fitted(words, count, LINE_TOKENS)
        room -= count(words) + LINE_TOKENS // 3
        if room < 0 and lines:
            break
        lines.append(f"{toolbox.evidence.label_event(event)} {toolbox.place(event.video_id, event.span)}: {words}")
        shown.append(event.id)
    toolbox.evidence.add_note("Relations stated by the events: " + "; ".join(lines))
    head = f"Relations that meet all conditions: {len(found)}"
    if dropped is not None:
        head = f"No relation meets all conditions. Without {dropped.words}, these do: {len(found)}"
    rest = f"\n{len(found) - len(lines)} more are not shown." if len(found) > len(lines) else ""
    text = f"{head}\n" + "\n".join(lines) + rest
    return Observation(text, cut=len(found) > len(lines), events=tuple(dict.fromkeys(shown)))


SCAN_CALLS = 40
"""Maximum number of calls of one scan with a reasoner that is not small: 640 events."""

MOST_COUNTED = 200_000
"""Number of events up to which a price is computed."""

EVENTS_SHOWN = 40
EVENT_LINE_TOKENS = 50
"""Maximum tokens of one event that is shown."""


def scan(toolbox: Toolbox, arguments: Mapping[str, Any]) -> Observation:
    """Judge every event in scope, in parallel, and show those of which the statement is true.

    A small reasoner judges one event at a time, as in the scans of `ava`: its verdicts on lists are worth nothing (ADR
    22). The scan refuses, with its price, if it would take more calls than are allowed or more than the budget holds
    next to an answer. What an earlier scan has judged is not paid for again. Events without a verdict are counted and
    never taken for a no. Raises Halt, after what was found before has been noted.
    """
    statement: str = arguments["predicate"]
    places = list(islice(all_places(toolbox.asked.graph), MOST_COUNTED + 1))
    if not places:
        return Observation("There is no event in scope.", NOTHING_FOUND)
    judging = Scan(toolbox.asked, toolbox.calls, statement)
    if refusal := _refusal(judging, len(places), sum(place.event_id not in judging.known for place in places)):
        return Observation(refusal, TOO_MANY)
    events = toolbox.load(place.event_id for place in places)
    verdicts = judging.run(events, meter=toolbox.meter)
    if not verdicts.read and verdicts.halt is None:
        return failed(verdicts.error or "unreadable")
    true = [event for event in events if event.id in verdicts.true]
    observation = _true_events(toolbox, statement, places, true, verdicts.read)
    if verdicts.halt is not None:
        raise verdicts.halt
    return observation


SCAN = Tool(
    name="scan",
    description="Reads every event in scope for where a statement is true: for how often, every, never. Expensive.",
    arguments={"predicate": Text(200)},
    needs=frozenset({"events"}),
    most=1,
    use=scan,
)


def _refusal(judging: Scan, events: int, unknown: int) -> str:
    """Return why a scan of that many events is not made, with its price; "" if it may be made.

    unknown: number of events that no earlier scan has judged.
    """
    calls = -(-unknown // judging.size)
    verdict = 1 if judging.small else VERDICT_TOKENS + NUMBER_TOKENS * judging.size
    prompt, written = calls * CALL_TOKENS + unknown * EVENT_TOKENS, calls * verdict
    most = judging.most_calls if judging.small else min(SCAN_CALLS, judging.most_calls)
    spending, model = judging.calls.spending, judging.asked.models.reasoner.name
    money = spending.price_of(model, prompt, written)
    price = f"{calls} calls and up to {prompt + written} tokens" + (f", {money:.4f} in money" if money else "")
    counted = f"more than {MOST_COUNTED}" if events > MOST_COUNTED else str(events)
    advice = "Search instead, or say that the question names too much time."
    if calls > most:
        return f"A scan of {counted} events takes {price}; at most {most} calls are allowed. {advice}"
    # One call more, for the answer.
    if not spending.holds(calls + 1, prompt, written, model):
        return f"A scan of {counted} events takes {price}; the budget does not hold that. {advice}"
    return ""


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
    head = f"Read {all_read}. {result}."
    toolbox.evidence.add_note(f"Scan of {all_read}: {result}.")
    count = toolbox.asked.models.reasoner.count_tokens
    lines: list[str] = []
    room = toolbox.observation_tokens
    for event in true[:EVENTS_SHOWN]:
        line = toolbox.event_line(event, most_tokens=EVENT_LINE_TOKENS)
        room -= count(line)
        lines.append(line)
        if room < 0:
            break
    rest = [f"{len(true) - len(lines)} more are not shown."] if len(true) > len(lines) else []
    shown = tuple(event.id for event in true[: len(lines)])
    return Observation("\n".join([head, *lines, *rest]), cut=bool(rest), events=shown)


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
