"""Route `scan`: how often, every, ever and never, by a statement that is judged over all events of the scope.

How often words are said, the transcript decides, utterance by utterance; in which events words are mentioned, the
events' words. Else the reasoner judges every event, as far as the number of calls and the budget go; a small one judges
those on which the words alone do not decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer, CitationStatus
from gpu_workers.engine.answering.routes.ending import MOST_CITED, Claim, moment_in_words, route_answer
from gpu_workers.engine.answering.routes.groups import Group, groups_of
from gpu_workers.engine.answering.routes.matching import Match, Worded, match, said_words, worded
from gpu_workers.engine.answering.routes.phrases import Phrases, Sureness, phrases_of
from gpu_workers.engine.answering.scanning import Scan
from gpu_workers.engine.answering.tools.captions import LINES_COUNTED, places_spoken
from gpu_workers.engine.answering.tools.desk import Desk
from gpu_workers.engine.answering.tools.scan import separate_times
from gpu_workers.engine.answering.tools.spoken_words import Place, words_of
from gpu_workers.engine.answering.trail import Step, Trail
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.models.roles import ModelError, embed_queries
from gpu_workers.engine.ports import EventPlace, StoredEvent, ViewQuery
from gpu_workers.engine.retrieval.frames import all_places

MOST_EVENTS = 20_000
"""Maximum number of events whose words are read, some 60 hours; of a wider scope only the nearest are."""

NEAREST = 2_000
"""Number of events nearest to the statement that are read of a wider scope."""

PAGE = 512
"""Number of events that are loaded at once."""

PLACES_SHOWN = 40
"""Maximum number of times that the text names."""

LINE_CHARACTERS = 160

_COUNTS_EVENTS = re.compile(r"\bhow many events\b|\b(?:every|all(?: the)?|each) events?\b", re.IGNORECASE)


@dataclass(slots=True)
class Findings:
    """What a scan found. places: of every event in scope, in order. true: events of which the statement holds. read:
    number of events that something decided about. certain: whether each of them was judged by itself."""

    places: Sequence[EventPlace]
    true: frozenset[UUID] = frozenset()
    read: int = 0
    certain: bool = False
    total: int = 0
    by_event: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        return self.read >= self.total

    @property
    def times(self) -> list[list[UUID]]:
        """Return the true events joined to separate times."""
        if self.by_event:
            return [[place.event_id] for place in self.places if place.event_id in self.true]
        return separate_times(self.places, self.true)

    @property
    def sure(self) -> Sureness:
        if not self.whole:
            return "at_least"
        return "exactly" if self.certain and len(self.times) == len(self.true) else "about"

    def units(self, phrases: Phrases) -> tuple[str, str]:
        """Return the words for one and for several of what is counted."""
        return (phrases.event, phrases.events) if self.by_event else (phrases.one, phrases.times)


def answer_by_scan(asked: Asked, calls: Calls) -> Answer | None:
    """Return how often or when the question's statement is true. None if there is no statement or no event.

    Raises ModelError if nothing could be judged.
    """
    desk = Desk(asked, calls)
    statement = as_data(asked.understood.predicate)
    if not statement or not desk.extents:
        return None
    words = said_words(statement)
    if words is not None and not _COUNTS_EVENTS.search(asked.own_words) and "transcript" in desk.artifacts:
        return _answer_by_speech(desk, statement, words)
    trail = Trail(desk, total=1)
    with calls.timed("scan"), trail.step("scan", predicate=statement) as step:
        findings = _found(desk, statement, step)
        step.events = desk.load([event_id for run in findings.times for event_id in run[:1]][:PLACES_SHOWN])
        step.observation = "; ".join([*step.observation.splitlines(), *findings.notes])
    return _answer(desk, statement, findings, trail)


def _answer_by_speech(desk: Desk, statement: str, words: str) -> Answer | None:
    """Return how often the words are said, one after the other, by the lines of the transcript in scope."""
    phrases, trail = phrases_of(desk.asked), Trail(desk, total=1)
    with desk.calls.timed("scan"), trail.step("scan", predicate=statement) as step:
        lines = desk.asked.graph.lines_containing(words_of(words), limit=LINES_COUNTED)
        places = places_spoken(desk, words, lines)
        note = f'the transcript has "{words}" {len(places)} times'
        step.observation = note
    sure: Sureness = "at_least" if len(lines) == LINES_COUNTED else "exactly"
    units = (phrases.one, phrases.times)
    choice = None
    if desk.asked.question.choices:
        choice = chosen_by_number(desk.asked.question.choices, len(places)) if sure == "exactly" else None
        if choice is None:
            return None
    counted = phrases.counted(sure, len(places), "", units)
    cited = [event.id for place in places[:MOST_CITED] for event in _heard_in(desk, place)]
    return route_answer(
        desk,
        desk.asked.question.choices[choice] if choice is not None else _speech_text(desk, phrases, sure, places),
        [Claim(f"{phrases.opening(counted.rstrip('.'))}: {statement}", tuple(dict.fromkeys(cited)), _status(cited))],
        head="scan",
        records=trail.records,
        choice=choice,
        reasoning=note,
        notes=[note],
        shares={"read": 1.0},
    )


def _speech_text(desk: Desk, phrases: Phrases, sure: Sureness, places: Sequence[Place]) -> str:
    understood, units = desk.asked.understood, (phrases.one, phrases.times)
    if understood.shape == "count" and (groups := groups_of(desk)):
        return f"{'; '.join(_said_in_group(desk, phrases, sure, places, group) for group in groups)}."
    if not places:
        return phrases.unsaid.format(number=phrases.number(sure, 0), times=units[1])
    if understood.shape in ("list", "steps", "table"):
        lines = [f'- {_moment(desk, place)}: "{as_data(place.line.text)}"' for place in places[:PLACES_SHOWN]]
        more = [phrases.more.format(n=len(places) - PLACES_SHOWN)] if len(places) > PLACES_SHOWN else []
        head = phrases.opening(phrases.counted(sure, len(places), "", units).rstrip("."))
        return "\n".join([f"{head}:", *lines, *more])
    moments = list(dict.fromkeys(_moment(desk, place) for place in places))
    named = _named(phrases, moments[:PLACES_SHOWN], len(moments))
    counted = phrases.counted(sure, len(places), named, units)
    if understood.shape == "count":
        return phrases.opening(counted)
    return (phrases.happens if understood.denied else phrases.yes).format(counted=counted)


def _said_in_group(desk: Desk, phrases: Phrases, sure: Sureness, places: Sequence[Place], group: Group) -> str:
    if not group.spans:
        return f"{group.label}: {phrases.outside}"
    own = [place for place in places if group.hears(place.line.video_id, place.span)]
    moments = list(dict.fromkeys(_moment(desk, place) for place in own))
    named = _named(phrases, moments[:PLACES_SHOWN], len(moments)) if moments else ""
    counted = phrases.counted(sure, len(own), named, (phrases.one, phrases.times))
    return f"{group.label}: {counted.rstrip('.')}"


def _heard_in(desk: Desk, place: Place) -> Sequence[StoredEvent]:
    return desk.events_at(place.line.video_id, place.span, limit=1)


def _moment(desk: Desk, place: Place) -> str:
    return moment_in_words(desk, place.line.video_id, place.span.start_ms)


def _status(cited: Sequence[UUID]) -> CitationStatus:
    return "supported" if cited else "unverified"


def _found(desk: Desk, statement: str, step: Step) -> Findings:
    """Return of which events the statement is true."""
    graph = desk.asked.graph
    places = list(islice(all_places(graph), MOST_EVENTS + 1))
    total = len(places)
    chosen = places if total <= MOST_EVENTS else _nearest_places(desk, statement)
    events = _loaded(desk, [place.event_id for place in chosen])
    words = _worded(desk, events)
    by_words = match(statement, words)
    by_event = _COUNTS_EVENTS.search(desk.asked.own_words) is not None
    found = Findings(places if total <= MOST_EVENTS else chosen, total=total, by_event=by_event)
    if by_words.exact:
        found.true, found.read, found.certain = by_words.sure, len(events), True
        found.notes.append(f"the words of {len(events)} events were compared")
        return found
    scan = Scan(desk.asked, desk.calls, statement)
    if not scan.small and len(chosen) <= scan.most_calls * scan.size and len(scan.fitting(events)) == len(events):
        return _judged(desk, scan, events, frozenset(), found, step)
    decided = by_words.sure if scan.small else frozenset[UUID]()
    named = [event for event in events if event.id in by_words.sure and event.id not in decided]
    # A small reasoner's yes is worth less than words: it judges only where they found nothing, or at effort high.
    settled = scan.small and bool(decided) and desk.asked.settings.effort != "high"
    fitting = scan.fitting([*named, *([] if settled else _doubtful(desk, statement, by_words, events))])
    found = _judged(desk, scan, fitting, decided, found, step)
    if scan.small:
        # Words decide about the rest: all events count as read, but none as judged by itself.
        found.read = len(events)
        found.notes.append(f"the words of {len(events)} events were compared, and {len(fitting)} events were judged")
    return found


def _judged(
    desk: Desk,
    scan: Scan,
    events: Sequence[StoredEvent],
    sure: frozenset[UUID],
    found: Findings,
    step: Step,
) -> Findings:
    """Judge events, after what it will take has been shown. sure: events about which words have decided."""
    estimate = scan.estimate(events)
    shown = f"scan: {estimate.in_words()}"
    desk.calls.on_progress("scan", 0, max(1, estimate.calls), shown)
    step.observation = shown
    found.notes.append(shown)
    verdicts = scan.run(events, meter=desk.meter)
    if verdicts.halt is not None:
        desk.calls.halt(verdicts.halt)
    if events and not verdicts.read and not sure and verdicts.halt is None:
        raise ModelError(verdicts.error or "unreadable", "no event could be judged", retryable=False)
    found.true = sure | frozenset(verdicts.true)
    found.read = len(verdicts.true | verdicts.false | sure)
    found.certain = not scan.small and not sure
    if found.read < found.total and not scan.small:
        found.notes.append(f"{found.total - found.read} of {found.total} events were not judged")
    return found


def _doubtful(desk: Desk, statement: str, by_words: Match, events: Sequence[StoredEvent]) -> list[StoredEvent]:
    """Return the events on which words do not decide, most promising first: by shared words and by similarity."""
    by_id = {event.id: event for event in events}
    ranks: dict[UUID, float] = {}
    for listed in (by_words.maybe, _nearest(desk, statement, NEAREST)):
        for rank, event_id in enumerate(listed):
            if event_id in by_id and event_id not in by_words.sure:
                ranks[event_id] = ranks.get(event_id, 0.0) + 1.0 / (60 + rank)
    return [by_id[event_id] for event_id in sorted(ranks, key=lambda event_id: -ranks[event_id])]


def _nearest(desk: Desk, statement: str, limit: int) -> list[UUID]:
    """Return the events nearest to the statement in meaning; none if the embedder fails."""
    try:
        vector = embed_queries(desk.asked.models.text_embedder, [statement], meter=desk.meter)[0]
    except ModelError:
        return []
    floor = desk.asked.settings.retrieval.floor
    return [
        hit.event_id for hit in desk.asked.graph.search_views({"event": ViewQuery(vector, limit)}, floor=floor)["event"]
    ]


def _nearest_places(desk: Desk, statement: str) -> list[EventPlace]:
    events = desk.load(_nearest(desk, statement, NEAREST))
    ordered = sorted(events, key=lambda event: (event.video_id, event.span, event.id))
    return [EventPlace(event.id, event.video_id, event.n, event.span) for event in ordered]


def _loaded(desk: Desk, event_ids: Sequence[UUID]) -> list[StoredEvent]:
    pages = (event_ids[at : at + PAGE] for at in range(0, len(event_ids), PAGE))
    return [event for page in pages for event in desk.load(page)]


def _worded(desk: Desk, events: Sequence[StoredEvent]) -> list[Worded]:
    """Return the events' words, with the names of who takes part."""
    names: dict[UUID, list[str]] = {}
    for at in range(0, len(events), PAGE):
        for mention in desk.asked.graph.entities_of([event.id for event in events[at : at + PAGE]]):
            names.setdefault(mention.event_id, []).append(mention.name)
    return [worded(event, names.get(event.id, ())) for event in events]


def _answer(desk: Desk, statement: str, found: Findings, trail: Trail) -> Answer | None:
    asked, phrases = desk.asked, phrases_of(desk.asked)
    times = found.times
    choice = None
    if asked.question.choices:
        choice = chosen_by_number(asked.question.choices, len(times)) if found.sure == "exactly" else None
        if choice is None:
            return None
    events = {event.id: event for event in _loaded(desk, [run[0] for run in times[:PLACES_SHOWN]])}
    text = asked.question.choices[choice] if choice is not None else _text(desk, phrases, found, times, events)
    first = [run[0] for run in times]
    claim = phrases.opening(phrases.counted(found.sure, len(times), "", found.units(phrases)).rstrip("."))
    share = found.read / found.total if found.total else 0.0
    return route_answer(
        desk,
        text,
        [Claim(f"{claim}: {statement}", tuple(first), _status(first))],
        head="scan",
        records=trail.records,
        choice=choice,
        reasoning="; ".join(found.notes),
        notes=found.notes,
        shares={"read": round(share, 4)},
    )


def _text(
    desk: Desk,
    phrases: Phrases,
    found: Findings,
    times: Sequence[Sequence[UUID]],
    events: dict[UUID, StoredEvent],
) -> str:
    understood, units = desk.asked.understood, found.units(phrases)
    # A number of times is no number of people or things, which the words of the question may have meant.
    meant = f" {phrases.not_things}" if understood.counted and not found.by_event else ""
    if understood.shape == "count" and (groups := groups_of(desk)):
        return f"{'; '.join(_in_group(desk, phrases, found, group) for group in groups)}.{meant}"
    shown = [events[run[0]] for run in times[:PLACES_SHOWN] if run[0] in events]
    if not times and understood.shape != "count":
        rest = found.total - found.read
        none, unread = (phrases.never, phrases.never_unread) if understood.denied else (phrases.no, phrases.no_unread)
        return unread.format(n=found.read, rest=rest) if rest else none.format(n=found.read)
    if not times:
        return phrases.none.format(number=phrases.number(found.sure, 0), times=units[1])
    if understood.shape in ("list", "steps", "table"):
        lines = [f"- {_place(desk, event)}: {_brief(event)}" for event in shown]
        more = [phrases.more.format(n=len(times) - len(shown))] if len(times) > len(shown) else []
        head = phrases.opening(phrases.counted(found.sure, len(times), "", units).rstrip("."))
        return "\n".join([f"{head}:", *lines, *more])
    named = [moment_in_words(desk, event.video_id, event.span.start_ms) for event in shown]
    counted = phrases.counted(found.sure, len(times), _named(phrases, named, len(times)), units)
    if understood.shape == "count":
        return f"{phrases.opening(counted)}{meant}"
    return (phrases.happens if understood.denied else phrases.yes).format(counted=counted)


def _in_group(desk: Desk, phrases: Phrases, found: Findings, group: Group) -> str:
    """Return how often the statement is true in a part of the scope, as "Yard: about 2 times: 0:01:05, 0:02:00"."""
    if not group.spans:
        return f"{group.label}: {phrases.outside}"
    places = {place.event_id: place for place in found.places if group.holds(place)}
    own = replace(found, places=list(places.values()), true=found.true & places.keys())
    firsts = [places[run[0]] for run in own.times]
    moments = [moment_in_words(desk, place.video_id, place.span.start_ms) for place in firsts[:PLACES_SHOWN]]
    named = _named(phrases, moments, len(firsts)) if moments else ""
    return f"{group.label}: {phrases.counted(own.sure, len(firsts), named, own.units(phrases)).rstrip('.')}"


def _named(phrases: Phrases, moments: Sequence[str], times: int) -> str:
    """Return moments as "0:01:05, 0:02:00.", with the number of those that are left out."""
    more = [phrases.more.format(n=times - len(moments))] if times > len(moments) else []
    return ", ".join([*moments, *more]) + "."


def _place(desk: Desk, event: StoredEvent) -> str:
    return f"{moment_in_words(desk, event.video_id, event.span.start_ms)}-{clock(event.span.end_ms, hours=True)}"


def _brief(event: StoredEvent) -> str:
    text = as_data(event.summary)
    return text if len(text) <= LINE_CHARACTERS else f"{text[: LINE_CHARACTERS - 1].rsplit(' ', 1)[0]}…"


def chosen_by_number(choices: Sequence[str], number: int) -> int | None:
    """Return the only choice that consists of this number; None if none or several do, or if a choice has no number."""
    numbers = [re.findall(r"\d+", choice) for choice in choices]
    if any(len(found) != 1 for found in numbers):
        return None
    fitting = [index for index, found in enumerate(numbers) if int(found[0]) == number]
    return fitting[0] if len(fitting) == 1 else None
