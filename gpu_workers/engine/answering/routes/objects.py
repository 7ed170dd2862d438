"""Route `objects`: how many people, animals, vehicles and things, counted in the object memory.

Tracks break and join, so a number is "about" unless every object is certain to be one thing. Entities of the graph are
never counted: one person has as many names as events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from gpu_workers.engine.answering.agent.object_tools import (
    CROWD,
    ObjectMemory,
    TooWide,
    embedded,
    moment_of,
    read_memory,
)
from gpu_workers.engine.answering.agent.step_records import StepRecorder
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.routes.phrases import Sureness, opening, phrases_of
from gpu_workers.engine.answering.routes.result import (
    MOST_CITED,
    Claim,
    Group,
    RouteResult,
    chosen_by_number,
    group_notes,
    groups_of,
    moment_in_words,
    route_answer,
)
from gpu_workers.engine.answering.routes.scan import answer_by_scan
from gpu_workers.engine.answering.understood import Counting
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.observer.at_once import most_at_once, presence
from gpu_workers.engine.models.observer.categories import moves_itself
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.ports import StoredObject
from gpu_workers.engine.retrieval.object_names import (
    Matches,
    categories_named,
    categories_there,
    matching,
    name_tokens,
    named_things,
    singular,
)
from gpu_workers.engine.retrieval.stretches import stretches_of

PLACES_SHOWN = 12
MOST_NAME_WORDS = 3

CERTAIN = 0.97
"""Confidence of each object from which a number may be exact: that it is one thing, and no other object."""


@dataclass(frozen=True, slots=True)
class ObjectCount:
    """A number of things. kind: the name of its phrase. things: those that were counted. moment: of the largest number
    at once, in ms."""

    n: int
    kind: str
    sure: Sureness
    things: Sequence[StoredObject]
    moment: int | None = None


@dataclass(frozen=True, slots=True)
class _ObjectTally:
    """The numbers of a part of the scope, or of all of it (group None). toolbox, memory: of this part."""

    toolbox: Toolbox
    memory: ObjectMemory
    counts: Sequence[ObjectCount]
    group: Group | None = None


def answer_by_objects(asked: Asked, calls: Calls) -> Answer | None:
    """Return how many things the question's words mean. Without object memory the scope is scanned for them instead,
    and the answer says so (no_object_memory). None if neither can answer."""
    toolbox, counted = Toolbox(asked, calls), asked.understood.counted
    if not counted or not asked.graph.objects(limit=1):
        return _by_scan(asked, calls, "no object memory: the number of times is counted, not the number of things")
    recorder = StepRecorder(toolbox, total=1)
    with calls.timed("objects"), recorder.step("count", counted=counted) as step:
        try:
            memory = read_memory(toolbox)
        except TooWide as error:
            step.observation = str(error)
            return _by_scan(asked, calls, step.observation)
        things = [shown.thing for shown in memory.objects]
        found = _matching(toolbox, things)
        if found is None:
            step.observation = f"No object has that name. There are: {categories_there(things)}."
            return _by_scan(asked, calls, step.observation)
        meant = () if found.colour_missing else found.objects
        tallies = [_in_group(toolbox, meant, group) for group in groups_of(toolbox)]
        if asked.understood.comparison in ("most", "fewest"):
            tallies.sort(key=lambda tally: tally.counts[0].n, reverse=asked.understood.comparison == "most")
        tallies = tallies or [_tally(toolbox, memory, meant)]
        step.observation = f"{_text(toolbox, tallies)} {len(meant)} objects are meant by: {as_data(counted)}"
    return _answer(toolbox, tallies, _unwatched(toolbox, memory), recorder)


def _by_scan(asked: Asked, calls: Calls, why: str) -> Answer | None:
    answer = answer_by_scan(asked, calls)
    if answer is None:
        return None
    return replace(answer, degraded=tuple(sorted({*answer.degraded, "no_object_memory"})), notes=(why, *answer.notes))


# --- counting ------------------------------------------------------------------------------------------------------


def _matching(toolbox: Toolbox, things: Sequence[StoredObject]) -> Matches | None:
    """Return the objects that are meant; None if the words name no kind of thing that is tracked."""
    words = toolbox.asked.understood.counted
    try:
        found = matching(words, things, lambda texts: embedded(toolbox, texts))
    except ModelError:
        return None
    return found if found.objects or named_things(words)[0] else None


def _in_group(toolbox: Toolbox, meant: Sequence[StoredObject], group: Group) -> _ObjectTally:
    """Return the numbers of a part of the scope. Raises TooWide."""
    graph = stretches_of(toolbox.asked.graph, group.spans)
    inner = Toolbox(replace(toolbox.asked, graph=graph), toolbox.calls, evidence=toolbox.evidence)
    return _tally(inner, read_memory(inner), meant, group)


def _tally(
    toolbox: Toolbox, memory: ObjectMemory, meant: Sequence[StoredObject], group: Group | None = None
) -> _ObjectTally:
    ids = {thing.id for thing in meant}
    own = [shown.thing for shown in memory.objects if shown.thing.id in ids]
    least = bool(_unwatched(toolbox, memory))
    return _ObjectTally(toolbox, memory, counts_of(toolbox.asked.understood.counting, own, least=least), group)


def _unwatched(toolbox: Toolbox, memory: ObjectMemory) -> list[UUID]:
    """Return the videos in scope of which the object memory has nothing: nothing was there, or nobody looked."""
    watched = {shown.thing.video_id for shown in memory.objects}
    return [video_id for video_id in toolbox.videos.values() if video_id not in watched]


def counts_of(counting: Counting, things: Sequence[StoredObject], *, least: bool) -> list[ObjectCount]:
    """Return the numbers that a question asks for: two if it asks who entered and who left. least: whether the object
    memory lacks a part of the scope."""
    sure: Sureness = "at_least" if least else _sureness(things)
    if counting == "total":
        return [ObjectCount(len(things), "objects", sure, things)]
    if counting == "at_once":
        together, moment = most_together(things)
        return [ObjectCount(len(together), "at_once", sure, together, moment)]
    passing: Sureness = "at_least" if least else "about"
    entered, left = [one for one in things if one.entries], [one for one in things if one.exits]
    counts = {
        "entered": ObjectCount(len(entered), "entered", passing, entered),
        "left": ObjectCount(len(left), "left", passing, left),
        "entries": ObjectCount(sum(one.entries for one in entered), "entries", passing, entered),
        "exits": ObjectCount(sum(one.exits for one in left), "exits", passing, left),
    }
    return [counts["entered"], counts["left"]] if counting == "both" else [counts[counting]]


def most_together(things: Sequence[StoredObject]) -> tuple[list[StoredObject], int]:
    """Return as many things of one video as are ever there at the same moment, and the first such moment in ms."""
    most: tuple[list[StoredObject], int] = [], 0
    by_video: dict[UUID, list[StoredObject]] = {}
    for thing in things:
        by_video.setdefault(thing.video_id, []).append(thing)
    for own in by_video.values():
        present = [presence(one.category, one.spans, passes=bool(one.entries or one.exits)) for one in own]
        together, ms = most_at_once(present)
        if len(together) > len(most[0]):
            most = [own[n] for n in together], ms
    return most


def _sureness(things: Sequence[StoredObject]) -> Sureness:
    """Return how sure a number of these things is. Objects of two videos may be one thing: they are never joined."""
    crowd = sum(moves_itself(thing.category) for thing in things) > CROWD
    certain = bool(things) and all(thing.confidence >= CERTAIN for thing in things)
    one_video = len({thing.video_id for thing in things}) == 1
    return "exactly" if certain and one_video and not crowd else "about"


# --- the answer ----------------------------------------------------------------------------------------------------


def _answer(
    toolbox: Toolbox, tallies: Sequence[_ObjectTally], unwatched: Sequence[UUID], recorder: StepRecorder
) -> Answer | None:
    choices = toolbox.asked.question.choices
    counts = [count for tally in tallies for count in tally.counts]
    notes = [*group_notes(toolbox, len(tallies)), *_notes(toolbox, counts, unwatched, grouped=len(tallies) > 1)]
    choice, text = None, _text(toolbox, tallies)
    if choices:
        # A search would have less to go by than a count that is not sure.
        choice = chosen_by_number(toolbox.asked, counts[0].n) if len(counts) == 1 else None
        if choice is None:
            return None
        text = choices[choice]
    elif _narrows_people(toolbox.asked.understood.counted):
        text = f"{text} {notes[-1]}"
    confidence = min((thing.confidence for count in counts for thing in count.things), default=0.0)
    result = RouteResult(
        text, "objects", recorder.records, choice=choice, notes=notes, shares={"confidence": round(confidence, 4)}
    )
    claims = [Claim(_labelled(tally, _said(tally, count)), _cited(tally, count)) for tally in tallies
              for count in tally.counts]  # fmt: skip
    return route_answer(toolbox, result, claims)


def _text(toolbox: Toolbox, tallies: Sequence[_ObjectTally]) -> str:
    parts = []
    for tally in tallies:
        numbers = "; ".join(f"{_said(tally, count)}{_places(tally.toolbox, count)}" for count in tally.counts)
        shown = tally.group is None or tally.group.spans
        parts.append(_labelled(tally, numbers if shown else phrases_of(toolbox.asked)("outside")))
    return f"{'; '.join(parts)}."


def _labelled(tally: _ObjectTally, text: str) -> str:
    return opening(text) if tally.group is None else f"{tally.group.label}: {text}"


def _said(tally: _ObjectTally, count: ObjectCount) -> str:
    """Return a number with what it counts, as "about 2 people"."""
    asked, phrases = tally.toolbox.asked, phrases_of(tally.toolbox.asked)
    what = as_data(named_things(asked.understood.counted)[0] or asked.understood.counted)
    if count.n == 1 and count.kind in ("objects", "at_once") and not asked.answer_language:
        what = _one_of(what)
    return phrases(count.kind, number=phrases(count.sure, n=count.n), what=what)


def _one_of(what: str) -> str:
    """Return an English name of several things as that of one; longer words, which may be a sentence, as they are."""
    *before, last = what.split() or [""]
    categories = categories_named(name_tokens(last)).get(singular(last.casefold()), frozenset())
    if not categories or len(before) >= MOST_NAME_WORDS:
        return what
    one = singular(last)
    return " ".join([*before, next(iter(categories)) if one == last and len(categories) == 1 else one])


def _places(toolbox: Toolbox, count: ObjectCount) -> str:
    """Return when the things are first visible, or most of them at once, as " (0:01:05, 0:02:00)"; "" without any."""
    if count.moment is not None:
        firsts = [(thing.video_id, count.moment) for thing in count.things[:1]]
    else:
        firsts = sorted({(thing.video_id, thing.spans[0].start_ms) for thing in count.things})
    named = phrases_of(toolbox.asked).listed((moment_in_words(toolbox, *first) for first in firsts), PLACES_SHOWN)
    return f" ({named})" if named else ""


def _cited(tally: _ObjectTally, count: ObjectCount) -> list[UUID]:
    """Return the events in which what was counted is first visible; of a number at once, the event of its moment."""
    if count.moment is not None and count.things:
        span = Span(count.moment, count.moment + 1)
        return [event.id for event in tally.toolbox.events_at(count.things[0].video_id, span, limit=1)]
    shown_of = {shown.thing.id: shown for shown in tally.memory.objects}
    places = (moment_of(shown_of[thing.id]) for thing in count.things[:MOST_CITED])
    return list(dict.fromkeys(place.event_id for place in places if place is not None))


def _notes(toolbox: Toolbox, counts: Sequence[ObjectCount], unwatched: Sequence[UUID], *, grouped: bool) -> list[str]:
    things = [thing for count in counts for thing in count.things]
    notes = ["counted in the object memory"]
    if things:
        sure = min(thing.confidence for thing in things)
        notes[0] += f"; each is one thing with a confidence of at least {sure:.2f}"
    if toolbox.several and not grouped:
        for count in counts:
            numbers = Counter(thing.video_id for thing in count.things)
            named = [f"{toolbox.video_name(video)}: {numbers[video]}" for video in toolbox.videos.values()]
            notes.append(f"by video: {', '.join(named)}")
    if len({thing.video_id for thing in things}) > 1:
        notes.append("The object memory knows nothing across videos: what is in two of them is counted twice.")
    if unwatched:
        named = [toolbox.video_name(video) for video in unwatched]
        notes.append(
            f"The object memory has nothing of {', '.join(named)}: nothing was there, or no object memory was made."
        )
    if _narrows_people(toolbox.asked.understood.counted):
        notes.append("The object memory tracks people; it does not distinguish men, women, children or roles.")
    return notes


def _narrows_people(counted: str) -> bool:
    """Whether the words name people by another word than person: the object memory does not distinguish them."""
    named = {word for word, categories in categories_named(name_tokens(counted)).items() if "person" in categories}
    return bool(named - {"person", "people", "individual"})
