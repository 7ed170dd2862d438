"""Route `scan`: how often, every, ever and never, by a statement that is judged over all events of the scope.

How often words are said, the transcript decides, utterance by utterance; in which events words are mentioned, the
events' words. Else the reasoner judges every event, as far as the number of calls and the budget go; a small one judges
those on which the words alone do not decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from gpu_workers.engine.answering.agent.caption_tools import LINES_COUNTED, find_spoken, words_of
from gpu_workers.engine.answering.agent.statement_tools import separate_times
from gpu_workers.engine.answering.agent.step_records import RecordedStep, StepRecorder
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.routes.occurrences import Occurrences, Times, answer_by_occurrences
from gpu_workers.engine.answering.routes.parts import brief
from gpu_workers.engine.answering.routes.phrases import MOMENTS_SHOWN, Sureness, phrases_of
from gpu_workers.engine.answering.routes.result import (
    MOST_CITED,
    Claim,
    Group,
    RouteResult,
    moment_in_words,
    route_answer,
)
from gpu_workers.engine.answering.routes.scan_events import (
    events_having,
    events_to_read,
    match,
    plain_words,
    promising,
    spread_rest,
    worded_events,
)
from gpu_workers.engine.answering.scanning import Scan
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.ports import EventPlace, StoredEvent
from gpu_workers.engine.retrieval.frames import all_places

LINE_CHARACTERS = 160

_HEARD_ANYWAY = frozenset({"no_frames", "model_refused"})
"""Codes of gaps in pictures whose sound was heard."""


def answer_by_scan(asked: Asked, calls: Calls) -> Answer | None:
    """Return how often or when the question's statement is true. None if there is no statement or no event.

    Raises ModelError if nothing could be judged.
    """
    toolbox, understood = Toolbox(asked, calls), asked.understood
    statement = as_data(understood.statement)
    if not statement or not toolbox.extents:
        return None
    always = understood.polarity == "always"
    if always and (understood.said != "none" or asked.models.calibration.small):
        # What is always said is no statement about events, and a small reasoner's yes to one event of many is not
        # enough to say that something is so all the time.
        return None
    recorder = StepRecorder(toolbox, total=1)
    if understood.said == "said" and understood.exact and "transcript" in toolbox.artifacts:
        found = _spoken(toolbox, statement, plain_words(understood.exact), recorder)
        return answer_by_occurrences(toolbox, found, recorder.records)
    with calls.timed("scan"), recorder.step("scan", predicate=statement) as step:
        findings = _find(toolbox, statement, step)
        times = first_places(findings.places, findings.true)
        firsts = toolbox.load(place.event_id for place in times[:MOMENTS_SHOWN])
        step.events = firsts
        step.observation = "; ".join([*step.observation.splitlines(), *findings.notes])
    if always:
        return _always(toolbox, statement, findings, recorder)
    return answer_by_occurrences(toolbox, _occurrences(toolbox, statement, findings, firsts), recorder.records)


# --- events --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Findings:
    """What a scan found. places: of every event in scope, in order. true: events of which the statement holds. denied:
    events that say that it is not true, which differ from silent ones only where it is asked for as true all the time.
    read: number of events that something decided about. certain: whether each of them was judged by itself.
    undescribed_ms: length of the events that nobody could describe, in milliseconds."""

    places: Sequence[EventPlace]
    true: frozenset[UUID] = frozenset()
    denied: frozenset[UUID] = frozenset()
    read: int = 0
    certain: bool = False
    undescribed_ms: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.places)

    @property
    def share(self) -> float:
        return self.read / self.total if self.total else 0.0

    def true_times(self, group: Group | None = None) -> Times:
        """Return when the statement is true, in the scope or in a part of it."""
        places = [place for place in self.places if group is None or group.holds(place.video_id, place.span)]
        times = first_places(places, self.true)
        joined = len(times) < sum(place.event_id in self.true for place in places)
        sure: Sureness = "about" if joined or not self.certain else "exactly"
        return Times([(place.video_id, place.span) for place in times], "at_least" if self.read < self.total else sure)


def first_places(places: Sequence[EventPlace], events: frozenset[UUID]) -> list[EventPlace]:
    """Return the first event of each separate time that events make up."""
    firsts = {run[0] for run in separate_times(places, events)}
    return [place for place in places if place.event_id in firsts]


def _find(toolbox: Toolbox, statement: str, step: RecordedStep) -> Findings:
    """Return of which events the statement is true. Events that could not be described are not read."""
    graph, understood = toolbox.asked.graph, toolbox.asked.understood
    found = Findings(list(all_places(graph)))
    gaps = graph.undescribed()
    if gaps:
        found.undescribed_ms = sum(place.span.duration_ms for place in gaps)
        length = clock(found.undescribed_ms, hours=True)
        found.notes.append(f"{length} in {len(gaps)} of {found.total} events could not be described")
    unknown = {place.event_id for place in gaps}
    readable = [place.event_id for place in found.places if place.event_id not in unknown]
    if understood.said != "none" and understood.exact:
        found.true, found.read = events_having(toolbox, understood.exact, readable)
        found.certain = True
        found.notes.append(f"the words of {found.read} events were compared")
        return found
    events = events_to_read(toolbox, statement, readable)
    scan = Scan(toolbox.asked, toolbox.calls, statement, both_sides=understood.polarity == "always")
    fitting = [] if scan.small else scan.fitting(events)
    if not scan.small and len(fitting) == len(events):
        _judge(toolbox, scan, events, found, step)
        return found
    by_words = match(statement, worded_events(toolbox, events))
    if not scan.small:
        named = [event for event in events if event.id in by_words.sure]
        first = [*named, *promising(toolbox, statement, by_words, events)]
        _judge(toolbox, scan, scan.fitting([*first, *spread_rest(events, first)]), found, step)
        return found
    # A small reasoner's yes is worth less than words: it judges only where they found nothing, or at effort high.
    if not by_words.sure or toolbox.asked.settings.effort == "high":
        fitting = scan.fitting(promising(toolbox, statement, by_words, events))
    _judge(toolbox, scan, fitting, found, step, sure=by_words.sure)
    # Words decide about the rest: all events count as read, but none as judged by itself.
    found.read, found.certain = len(events), False
    found.notes.append(f"the words of {len(events)} events were compared, and {len(fitting)} events were judged")
    return found


def _judge(
    toolbox: Toolbox,
    scan: Scan,
    events: Sequence[StoredEvent],
    found: Findings,
    step: RecordedStep,
    *,
    sure: frozenset[UUID] = frozenset(),
) -> None:
    """Judge events, after what it will take has been shown. sure: events about which words have decided."""
    price = scan.price(events)
    step.observation = f"scan: {scan.price_in_words(events, price)}"
    toolbox.calls.on_progress("scan", 0, max(1, price.calls), step.observation)
    found.notes.append(step.observation)
    verdicts = scan.run(events, meter=toolbox.meter)
    if verdicts.halt is not None:
        toolbox.calls.halt(verdicts.halt)
    if events and not verdicts.read and not sure and verdicts.halt is None:
        raise ModelError(verdicts.error or "unreadable", "no event could be judged", retryable=False)
    found.true, found.denied = sure | verdicts.true, frozenset(verdicts.denied)
    found.read, found.certain = verdicts.read, True
    if found.read < found.total and not scan.small:
        found.notes.append(f"{found.total - found.read} of {found.total} events were not judged")


def _occurrences(toolbox: Toolbox, statement: str, found: Findings, firsts: Sequence[StoredEvent]) -> Occurrences:
    phrases, understood, unread = phrases_of(toolbox.asked), toolbox.asked.understood, found.total - found.read
    times = found.true_times()
    if understood.shape == "count":
        absent = phrases("none", times=phrases.times(times.sure, 0))
    else:
        absent = phrases(f"{'never' if understood.polarity == 'never' else 'no'}{'_unread' if unread else ''}",
                         n=found.read, rest=unread)  # fmt: skip
        absent = f"{absent}{_undescribed(toolbox, found)}" if unread else absent
    return Occurrences(
        statement,
        times,
        found.true_times,
        rows=[
            (toolbox.place(event.video_id, event.span, titled=True), brief(as_data(event.summary), LINE_CHARACTERS))
            for event in firsts
        ],
        absent=absent,
        events=[place.event_id for place in first_places(found.places, found.true)],
        notes=found.notes,
        read=found.share,
    )


def _always(toolbox: Toolbox, statement: str, found: Findings, recorder: StepRecorder) -> Answer | None:
    """Return whether the statement is true all the time. None if no event says anything about it, or if the budget
    ended before all of them were judged."""
    phrases, times = phrases_of(toolbox.asked), first_places(found.places, found.denied or found.true)
    if not times or toolbox.asked.question.choices or (toolbox.calls.halted is not None and not found.denied):
        return None
    if found.denied:
        moments = [moment_in_words(toolbox, place.video_id, place.span.start_ms) for place in times]
        # Others may say the same in words that were not recognised.
        text = phrases("not_always", times=phrases.times("at_least", len(times), moments))
        statement = phrases("not_always", times=statement)
    elif len(found.true) == found.total:
        text = phrases("always", n=found.total)
    else:
        text = phrases("not_otherwise", n=len(found.true), all=found.total) + _undescribed(toolbox, found)
    result = RouteResult(text, "scan", recorder.records, notes=found.notes, shares={"read": round(found.share, 4)})
    return route_answer(toolbox, result, [Claim(statement, [place.event_id for place in times])])


def _undescribed(toolbox: Toolbox, found: Findings) -> str:
    """Return, after a space, how much of the scope nobody could describe; "" if all of it was described."""
    length = clock(found.undescribed_ms, hours=True)
    return f" {phrases_of(toolbox.asked)('undescribed', time=length)}" if found.undescribed_ms else ""


# --- speech --------------------------------------------------------------------------------------------------------


def _spoken(toolbox: Toolbox, statement: str, words: str, recorder: StepRecorder) -> Occurrences:
    """Return how often the words are said, one after the other, by the lines of the transcript in scope; no model is
    asked. A stretch that nobody could listen to makes it "at least"."""
    with toolbox.calls.timed("scan"), recorder.step("scan", predicate=statement) as step:
        lines = toolbox.asked.graph.lines_containing(words_of(words), limit=LINES_COUNTED)
        said = find_spoken(toolbox, words, lines)
        gaps = toolbox.load(place.event_id for place in toolbox.asked.graph.undescribed())
        unheard_ms = sum(event.span.duration_ms for event in gaps if _is_unheard(event))
        notes = [f'the transcript has "{words}" {len(said)} times']
        if unheard_ms:
            notes.append(f"{clock(unheard_ms, hours=True)} could not be read, and its speech was not heard")
        step.observation = "; ".join(notes)
    sure: Sureness = "at_least" if len(lines) == LINES_COUNTED or unheard_ms else "exactly"
    places = [(each.line.video_id, each.span) for each in said]
    cited = [event.id for place in places[:MOST_CITED] for event in toolbox.events_at(*place, limit=1)]
    phrases, length_ms = phrases_of(toolbox.asked), sum(span.duration_ms for span in toolbox.extents.values())
    return Occurrences(
        statement,
        Times(places, sure),
        lambda group: Times([place for place in places if group.holds(*place)], sure),
        rows=[
            (moment_in_words(toolbox, each.line.video_id, each.span.start_ms), f'"{as_data(each.line.text)}"')
            for each in said[:MOMENTS_SHOWN]
        ],
        absent=phrases("unsaid", times=phrases.times(sure, 0)),
        events=list(dict.fromkeys(cited)),
        notes=notes,
        read=max(0.0, 1.0 - unheard_ms / max(1, length_ms)),
    )


def _is_unheard(event: StoredEvent) -> bool:
    return any(chunk.gap not in _HEARD_ANYWAY for chunk in event.chunks) and not any(
        chunk.transcript for chunk in event.chunks
    )
