"""Route `scan`: how often, every, ever and never, by a statement that is judged over all events of the scope.

How often words are said, the transcript decides, utterance by utterance; in which events words are mentioned, the
events' words. Else the reasoner judges every event, as far as the number of calls and the budget go; a small one judges
those on which the words alone do not decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from gpu_workers.engine.answering.agent.statement_tools import separate_times
from gpu_workers.engine.answering.agent.step_records import RecordedStep, StepRecorder
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer, AnswerPart
from gpu_workers.engine.answering.ending.composed import table_lines
from gpu_workers.engine.answering.routes.choosing import chosen_by_number
from gpu_workers.engine.answering.routes.ending import Claim, RouteResult, moment_in_words, route_answer
from gpu_workers.engine.answering.routes.groups import Group, group_notes, groups_of
from gpu_workers.engine.answering.routes.matching import events_with_words, match, plain_words
from gpu_workers.engine.answering.routes.phrases import Phrases, Sureness, phrases_of
from gpu_workers.engine.answering.routes.reach import (
    MOST_EVENTS,
    doubtful,
    loaded,
    others,
    read_events,
    with_words,
    worded_events,
)
from gpu_workers.engine.answering.routes.speech import PLACES_SHOWN, answer_by_speech
from gpu_workers.engine.answering.scanning import Scan
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.ports import EventPlace, StoredEvent
from gpu_workers.engine.retrieval.frames import all_places
from gpu_workers.engine.retrieval.object_names import named_things

LINE_CHARACTERS = 160


@dataclass(slots=True)
class Findings:
    """What a scan found. places: of every event in scope, in order. true: events of which the statement holds. read:
    number of events that something decided about. certain: whether each of them was judged by itself. undescribed_ms:
    length of the events that nobody could describe, in milliseconds. denied: events that say that the statement is not
    true, which differ from silent ones only where it is asked for as true all the time."""

    places: Sequence[EventPlace]
    true: frozenset[UUID] = frozenset()
    read: int = 0
    certain: bool = False
    undescribed_ms: int = 0
    notes: list[str] = field(default_factory=list)
    denied: frozenset[UUID] = frozenset()

    @property
    def total(self) -> int:
        return len(self.places)

    @property
    def whole(self) -> bool:
        return self.read >= self.total

    @property
    def times(self) -> list[list[UUID]]:
        """Return the true events joined to separate times."""
        return separate_times(self.places, self.true)

    @property
    def sure(self) -> Sureness:
        if not self.whole:
            return "at_least"
        return "exactly" if self.certain and len(self.times) == len(self.true) else "about"


def answer_by_scan(asked: Asked, calls: Calls) -> Answer | None:
    """Return how often or when the question's statement is true. None if there is no statement or no event.

    Raises ModelError if nothing could be judged.
    """
    toolbox = Toolbox(asked, calls)
    understood = asked.understood
    statement = as_data(understood.statement)
    if not statement or not toolbox.extents:
        return None
    always = understood.polarity == "always"
    if always and (understood.said != "none" or asked.models.calibration.small):
        # What is always said is no statement about events, and a small reasoner's yes to one event of many is not
        # enough to say that something is so all the time.
        return None
    if understood.said == "said" and understood.exact and "transcript" in toolbox.artifacts:
        return answer_by_speech(toolbox, statement, plain_words(understood.exact))
    recorder = StepRecorder(toolbox, total=1)
    with calls.timed("scan"), recorder.step("scan", predicate=statement) as step:
        findings = _found(toolbox, statement, step)
        step.events = toolbox.load([event_id for run in findings.times for event_id in run[:1]][:PLACES_SHOWN])
        step.observation = "; ".join([*step.observation.splitlines(), *findings.notes])
    return (
        _always(toolbox, statement, findings, recorder) if always else _answer(toolbox, statement, findings, recorder)
    )


def _found(toolbox: Toolbox, statement: str, step: RecordedStep) -> Findings:
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
        return _with_exact_words(toolbox, understood.exact, readable, found)
    events = read_events(toolbox, statement, readable)
    scan = Scan(toolbox.asked, toolbox.calls, statement, both_sides=understood.polarity == "always")
    if not scan.small and len(events) <= scan.most_calls * scan.size and len(scan.fitting(events)) == len(events):
        return _judged(toolbox, scan, events, frozenset(), found, step)
    by_words = match(statement, worded_events(toolbox, events))
    decided = by_words.sure if scan.small else frozenset[UUID]()
    named = [event for event in events if event.id in by_words.sure and event.id not in decided]
    # A small reasoner's yes is worth less than words: it judges only where they found nothing, or at effort high.
    settled = scan.small and bool(decided) and toolbox.asked.settings.effort != "high"
    first = [*named, *([] if settled else doubtful(toolbox, statement, by_words, events))]
    fitting = scan.fitting(first if scan.small else [*first, *others(events, first)])
    found = _judged(toolbox, scan, fitting, decided, found, step)
    if scan.small:
        # Words decide about the rest: all events count as read, but none as judged by itself.
        found.read = len(events)
        found.notes.append(f"the words of {len(events)} events were compared, and {len(fitting)} events were judged")
    return found


def _with_exact_words(toolbox: Toolbox, words: str, readable: Sequence[UUID], found: Findings) -> Findings:
    """Return the events that have the words: nothing is left to judge."""
    wide = len(readable) > MOST_EVENTS
    events, whole = with_words(toolbox, words, readable) if wide else (loaded(toolbox, readable), True)
    found.true, found.certain = events_with_words(words, worded_events(toolbox, events)), whole
    found.read = len(readable) if wide and whole else len(events)
    found.notes.append(f"the words of {found.read} events were compared")
    return found


def _judged(
    toolbox: Toolbox,
    scan: Scan,
    events: Sequence[StoredEvent],
    sure: frozenset[UUID],
    found: Findings,
    step: RecordedStep,
) -> Findings:
    """Judge events, after what it will take has been shown. sure: events about which words have decided."""
    estimate = scan.estimate(events)
    shown = f"scan: {estimate.in_words()}"
    toolbox.calls.on_progress("scan", 0, max(1, estimate.calls), shown)
    step.observation = shown
    found.notes.append(shown)
    verdicts = scan.run(events, meter=toolbox.meter)
    if verdicts.halt is not None:
        toolbox.calls.halt(verdicts.halt)
    if events and not verdicts.read and not sure and verdicts.halt is None:
        raise ModelError(verdicts.error or "unreadable", "no event could be judged", retryable=False)
    found.true, found.denied = sure | frozenset(verdicts.true), frozenset(verdicts.denied)
    found.read = len(verdicts.true | verdicts.false | verdicts.denied | sure)
    found.certain = not scan.small and not sure
    if found.read < found.total and not scan.small:
        found.notes.append(f"{found.total - found.read} of {found.total} events were not judged")
    return found


def _always(toolbox: Toolbox, statement: str, found: Findings, recorder: StepRecorder) -> Answer | None:
    """Return whether the statement is true all the time. None if no event says anything about it, or if the budget
    ended before all of them were judged."""
    asked, phrases = toolbox.asked, phrases_of(toolbox.asked)
    times = separate_times(found.places, found.denied or found.true)
    if not times or asked.question.choices or (toolbox.calls.halted is not None and not found.denied):
        return None
    first = [run[0] for run in times]
    unread = found.total - found.read
    lost = [phrases.undescribed.format(time=clock(found.undescribed_ms, hours=True))] if found.undescribed_ms else []
    if found.denied:
        shown = loaded(toolbox, first[:PLACES_SHOWN])
        moments = [moment_in_words(toolbox, event.video_id, event.span.start_ms) for event in shown]
        # Others may say the same in words that were not recognised.
        counted = phrases.counted(
            "at_least", len(times), phrases.moments(moments, len(times)), (phrases.one, phrases.times)
        )
        text = phrases.not_always.format(counted=counted)
    elif len(found.true) == found.total:
        text = phrases.always.format(n=found.total)
    else:
        text = " ".join([phrases.not_otherwise.format(n=len(found.true), all=found.total), *lost])
    claim = phrases.not_always.format(counted=statement) if found.denied else statement
    return route_answer(
        toolbox,
        RouteResult(
            text,
            head="scan",
            records=recorder.records,
            reasoning="; ".join(found.notes),
            notes=found.notes,
            shares={"read": round((found.total - unread) / found.total, 4) if found.total else 0.0},
        ),
        [Claim(claim, tuple(first), "supported")],
    )


def _answer(toolbox: Toolbox, statement: str, found: Findings, recorder: StepRecorder) -> Answer | None:
    asked, phrases = toolbox.asked, phrases_of(toolbox.asked)
    times = found.times
    choice = None
    if asked.question.choices:
        choice = chosen_by_number(asked.question.choices, len(times)) if found.sure == "exactly" else None
        if choice is None:
            return None
    events = {event.id: event for event in loaded(toolbox, [run[0] for run in times[:PLACES_SHOWN]])}
    shown = [events[run[0]] for run in times[:PLACES_SHOWN] if run[0] in events]
    text = asked.question.choices[choice] if choice is not None else _text(toolbox, phrases, found, times, shown)
    first = [run[0] for run in times]
    claim = phrases.opening(phrases.counted(found.sure, len(times), "", (phrases.one, phrases.times)).rstrip("."))
    share = found.read / found.total if found.total else 0.0
    return route_answer(
        toolbox,
        RouteResult(
            text,
            head="scan",
            records=recorder.records,
            choice=choice,
            reasoning="; ".join(found.notes),
            notes=found.notes,
            shares={"read": round(share, 4)},
            parts=[] if choice is not None else _parts(toolbox, shown),
            columns=_columns(toolbox) if choice is None and shown else (),
        ),
        [Claim(f"{claim}: {statement}", tuple(first), "supported")],
    )


def _text(
    toolbox: Toolbox,
    phrases: Phrases,
    found: Findings,
    times: Sequence[Sequence[UUID]],
    shown: Sequence[StoredEvent],
) -> str:
    understood, units = toolbox.asked.understood, (phrases.one, phrases.times)
    never = understood.polarity == "never"
    # A number of times is no number of people or things, which the words of the question may have meant.
    meant = f" {phrases.not_things}" if named_things(understood.counted)[0] else ""
    if understood.shape == "count" and (groups := groups_of(toolbox)):
        found.notes += group_notes(toolbox, len(groups))
        tallies = [_in_group(toolbox, phrases, found, group) for group in groups]
        if understood.comparison in ("most", "fewest"):
            tallies.sort(key=lambda tally: tally[0], reverse=understood.comparison == "most")
        return f"{'; '.join(text for _, text in tallies)}.{meant}"
    if not times and understood.shape != "count":
        rest = found.total - found.read
        none, unread = (phrases.never, phrases.never_unread) if never else (phrases.no, phrases.no_unread)
        if not rest:
            return none.format(n=found.read)
        lost = found.undescribed_ms
        more = [phrases.undescribed.format(time=clock(lost, hours=True))] if lost else []
        return " ".join([unread.format(n=found.read, rest=rest), *more])
    if not times:
        return phrases.none.format(number=phrases.number(found.sure, 0), times=units[1])
    if understood.shape in ("list", "steps", "table"):
        rows = _rows(toolbox, shown)
        more = [phrases.more.format(n=len(times) - len(shown))] if len(times) > len(shown) else []
        head = phrases.opening(phrases.counted(found.sure, len(times), "", units).rstrip("."))
        if understood.shape == "table":
            return "\n".join([f"{head}:", "", *table_lines(_columns(toolbox), rows), *more])
        return "\n".join([f"{head}:", *(f"- {when}: {what}" for when, what in rows), *more])
    named = [moment_in_words(toolbox, event.video_id, event.span.start_ms) for event in shown]
    counted = phrases.counted(found.sure, len(times), phrases.moments(named, len(times)), units)
    if understood.shape == "count":
        return f"{phrases.opening(counted)}{meant}"
    return (phrases.happens if never else phrases.yes).format(counted=counted)


def _columns(toolbox: Toolbox) -> tuple[str, ...]:
    """Return the headings of a table; none for another form."""
    phrases = phrases_of(toolbox.asked)
    return (phrases.when, phrases.what) if toolbox.asked.understood.shape == "table" else ()


def _rows(toolbox: Toolbox, events: Sequence[StoredEvent]) -> list[tuple[str, str]]:
    return [(_place(toolbox, event), _brief(event)) for event in events]


def _parts(toolbox: Toolbox, events: Sequence[StoredEvent]) -> list[AnswerPart]:
    """Return the lines of a list or the rows of a table, all under the only claim; none for another form."""
    shape = toolbox.asked.understood.shape
    if shape not in ("list", "steps", "table"):
        return []
    if shape == "table":
        return [AnswerPart(what, 0, (when, what)) for when, what in _rows(toolbox, events)]
    return [AnswerPart(f"{when}: {what}", 0) for when, what in _rows(toolbox, events)]


def _in_group(toolbox: Toolbox, phrases: Phrases, found: Findings, group: Group) -> tuple[int, str]:
    """Return how often the statement is true in a part of the scope, and the same in words, as "Yard: about 2 times:
    0:01:05, 0:02:00"."""
    if not group.spans:
        return 0, f"{group.label}: {phrases.outside}"
    places = {place.event_id: place for place in found.places if group.holds(place)}
    own = replace(
        found,
        places=list(places.values()),
        true=found.true & places.keys(),
        read=len(places) if found.whole else 0,
    )
    firsts = [places[run[0]] for run in own.times]
    # The label names the only video of a group.
    titled = len(group.spans) > 1
    moments = [
        moment_in_words(toolbox, place.video_id, place.span.start_ms)
        if titled
        else clock(place.span.start_ms, hours=True)
        for place in firsts[:PLACES_SHOWN]
    ]
    named = phrases.moments(moments, len(firsts)) if moments else ""
    counted = phrases.counted(own.sure, len(firsts), named, (phrases.one, phrases.times))
    return len(firsts), f"{group.label}: {counted.rstrip('.')}"


def _place(toolbox: Toolbox, event: StoredEvent) -> str:
    return f"{moment_in_words(toolbox, event.video_id, event.span.start_ms)}-{clock(event.span.end_ms, hours=True)}"


def _brief(event: StoredEvent) -> str:
    text = as_data(event.summary)
    return text if len(text) <= LINE_CHARACTERS else f"{text[: LINE_CHARACTERS - 1].rsplit(' ', 1)[0]}…"
