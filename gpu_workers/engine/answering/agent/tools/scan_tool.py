"""`scan`: of which events in scope a statement is true, by reading every one of them.

A search shows the events nearest to a question. It can neither count nor prove absence. A scan costs a call per batch
of events, so its price is known before it begins, and bounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.tool import NOTHING_FOUND, TOO_MANY, Observation, Text, Tool, failed
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.scan_price import CALL_TOKENS, EVENT_TOKENS, NUMBER_TOKENS, VERDICT_TOKENS
from gpu_workers.engine.answering.scanning.scan import Scan
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ports import EventPlace, StoredEvent
from gpu_workers.engine.retrieval.frames import all_places

MOST_CALLS = 40
"""Maximum number of calls of one scan with a reasoner that is not small: 640 events."""

MOST_COUNTED = 200_000
"""Number of events up to which a price is computed."""

MOST_SHOWN = 40
LINE_TOKENS = 50
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
    observation = _shown(toolbox, statement, places, true, verdicts.read)
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
    verdict = 1 if judging.by_odds else VERDICT_TOKENS + NUMBER_TOKENS * judging.size
    prompt, written = calls * CALL_TOKENS + unknown * EVENT_TOKENS, calls * verdict
    most = judging.most_calls if judging.small else min(MOST_CALLS, judging.most_calls)
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


def _shown(
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
    for event in true[:MOST_SHOWN]:
        line = toolbox.event_line(event, most_tokens=LINE_TOKENS)
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
