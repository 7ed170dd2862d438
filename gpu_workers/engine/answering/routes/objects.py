"""Route `objects`: how many people, animals, vehicles and things, counted in the object memory.

Tracks break and join, so a number is "about" unless every object is certain to be one thing. Entities of the graph are
never counted: one person has as many names as events.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.routes.choosing import chosen_by_number
from gpu_workers.engine.answering.routes.ending import MOST_CITED, Claim, moment_in_words, route_answer
from gpu_workers.engine.answering.routes.phrases import Sureness, phrases_of
from gpu_workers.engine.answering.routes.scan import answer_by_scan
from gpu_workers.engine.answering.tools.desk import Desk
from gpu_workers.engine.answering.tools.object_memory import (
    CROWD,
    ObjectMemory,
    TooWide,
    first_events,
    moment_of,
    read_memory,
)
from gpu_workers.engine.answering.tools.object_words import Matches, categories_there, matching, named_things
from gpu_workers.engine.answering.trail import Trail
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.observer.categories import moves_itself
from gpu_workers.engine.models.roles import ModelError, embed_queries
from gpu_workers.engine.ports import StoredObject
from gpu_workers.engine.retrieval.object_names import singular

CERTAIN = 0.97
"""Confidence of each object from which a number may be exact: that it is one thing, and no other object."""

PLACES_SHOWN = 12

_AT_ONCE = re.compile(
    r"\bat (?:once|the same time|any one time|most)\b|\bsimultaneously\b|\bmaximum\b|\btogether\b|gleichzeitig|"
    r"a la vez|al mismo tiempo|同时|同時|في (?:وقت واحد|نفس الوقت)",
    re.IGNORECASE,
)
_ENTERED = re.compile(
    r"\b(?:enter(?:s|ed)?|arriv\w+|com(?:e|es|ing) in|came in|entr(?:a|an|ó|aron))\b|进入|進入", re.IGNORECASE
)
_LEFT = re.compile(r"\b(?:leav(?:e|es|ing)|left|exit(?:s|ed)?|salen|salieron)\b|离开|離開", re.IGNORECASE)
MOST_NAME_WORDS = 3
_ONE_PERSON = {"people": "person", "men": "man", "women": "woman", "children": "child"}
_SOME_PEOPLE = re.compile(
    r"\b(?:men|man|women|woman|boys?|girls?|child(?:ren)?|kids?|adults?|workers?|players?|ladies|lady|gentlem[ae]n|"
    r"visitors?|pedestrians?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Count:
    """A number of things. kind: in total, at once, entered or left. things: those that were counted. moment: of the
    largest number at once, in ms."""

    n: int
    kind: str
    sure: Sureness
    things: Sequence[StoredObject]
    moment: int | None = None


def answer_by_objects(asked: Asked, calls: Calls) -> Answer | None:
    """Return how many things the question's words mean. Without object memory the scope is scanned for them instead,
    and the answer says so (no_object_memory). None if neither can answer."""
    desk = Desk(asked, calls)
    if not asked.understood.counted or not asked.graph.objects(limit=1):
        return _by_scan(asked, calls, "no object memory: the number of times is counted, not the number of things")
    trail = Trail(desk, total=1)
    with calls.timed("objects"), trail.step("count", counted=asked.understood.counted) as step:
        try:
            memory = read_memory(desk)
        except TooWide as error:
            step.observation = str(error)
            return _by_scan(asked, calls, str(error))
        things = [shown.thing for shown in memory.objects]
        found = _matching(desk, things)
        if found is None:
            step.observation = f"No object has that name. There are: {categories_there(things)}."
            return _by_scan(asked, calls, step.observation)
        counted = () if found.colour_missing else found.objects
        count = _counted(asked.own_words, counted)
        step.observation = f"{count.kind}: {count.n} of {len(counted)} objects for {as_data(asked.understood.counted)}"
    return _answer(desk, memory, count, trail)


def _by_scan(asked: Asked, calls: Calls, why: str) -> Answer | None:
    answer = answer_by_scan(asked, calls)
    if answer is None:
        return None
    return replace(answer, degraded=tuple(sorted({*answer.degraded, "no_object_memory"})), notes=(why, *answer.notes))


def _matching(desk: Desk, things: Sequence[StoredObject]) -> Matches | None:
    """Return the objects that are meant; None if the words name no kind of thing that is tracked."""
    words = desk.asked.understood.counted

    def embed(texts: Sequence[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        embedder = desk.asked.models.text_embedder
        query = embed_queries(embedder, texts[:1], meter=desk.meter)
        return np.concatenate([query, embedder.embed(texts[1:], meter=desk.meter)])

    try:
        found = matching(words, things, embed)
    except ModelError:
        return None
    return found if found.objects or named_things(words)[0] else None


def _counted(question: str, things: Sequence[StoredObject]) -> Count:
    sure = _sureness(things)
    if _AT_ONCE.search(question):
        together, moment = most_at_once(things)
        return Count(len(together), "at once", sure, together, moment)
    if _ENTERED.search(question):
        return Count(sum(thing.entries for thing in things), "entered", "about", [one for one in things if one.entries])
    if _LEFT.search(question):
        return Count(sum(thing.exits for thing in things), "left", "about", [one for one in things if one.exits])
    return Count(len(things), "total", sure, things)


def most_at_once(things: Sequence[StoredObject]) -> tuple[list[StoredObject], int]:
    """Return as many things of one video as are ever visible at the same moment, and the first such moment in ms."""
    most: tuple[list[StoredObject], int] = [], 0
    by_video: dict[UUID, list[StoredObject]] = {}
    for thing in things:
        by_video.setdefault(thing.video_id, []).append(thing)
    for own in by_video.values():
        edges = [(ms, begins, n) for n, thing in enumerate(own) for span in thing.spans for ms, begins in _edges(span)]
        visible: set[int] = set()
        for ms, begins, n in sorted(edges):
            if not begins:
                visible.discard(n)
                continue
            visible.add(n)
            if len(visible) > len(most[0]):
                most = [own[other] for other in sorted(visible)], ms
    return most


def _edges(span: Span) -> tuple[tuple[int, bool], tuple[int, bool]]:
    """Return when a thing appears (True) and when it is gone (False): at one moment, what is gone sorts first."""
    return (span.start_ms, True), (span.end_ms, False)


def _sureness(things: Sequence[StoredObject]) -> Sureness:
    crowd = sum(moves_itself(thing.category) for thing in things) > CROWD
    certain = bool(things) and all(thing.confidence >= CERTAIN for thing in things)
    return "exactly" if certain and not crowd else "about"


def _answer(desk: Desk, memory: ObjectMemory, count: Count, trail: Trail) -> Answer | None:
    asked, phrases, things = desk.asked, phrases_of(desk.asked), count.things
    choice = None
    if asked.question.choices:
        choice = chosen_by_number(asked.question.choices, count.n) if count.sure == "exactly" else None
        if choice is None:
            return None
    what = as_data(asked.understood.counted)
    form = {"at once": phrases.at_once, "entered": phrases.entered, "left": phrases.left}.get(
        count.kind, phrases.objects
    )
    if count.n == 1 and count.kind in ("total", "at once") and not asked.answer_language:
        what = _one_of(what)
    claim = phrases.opening(form.format(number=phrases.number(count.sure, count.n), what=what))
    cited = _cited(desk, memory, count)
    notes = _notes(desk, things, count)
    text = asked.question.choices[choice] if choice is not None else f"{claim}{_places(desk, count)}."
    if _SOME_PEOPLE.search(what) and choice is None:
        text = f"{text} {notes[-1]}"
    return route_answer(
        desk,
        text,
        [Claim(claim, tuple(cited), "supported" if cited else "unverified")],
        head="objects",
        records=trail.records,
        choice=choice,
        reasoning="; ".join(notes),
        notes=notes,
        shares={"confidence": round(min((thing.confidence for thing in things), default=0.0), 4)},
    )


def _one_of(what: str) -> str:
    """Return an English name of several things as that of one; longer words, which may be a sentence, as they are."""
    words = what.split()
    if not words or len(words) > MOST_NAME_WORDS:
        return what
    return " ".join([*words[:-1], _ONE_PERSON.get(words[-1].lower()) or singular(words[-1])])


def _notes(desk: Desk, things: Sequence[StoredObject], count: Count) -> list[str]:
    notes = [f"counted in the object memory ({count.kind})"]
    if things:
        sure = min(thing.confidence for thing in things)
        notes[0] += f"; each is one thing with a confidence of at least {sure:.2f}"
    if desk.several:
        numbers = {video: sum(thing.video_id == video for thing in things) for video in desk.videos.values()}
        notes.append("by video: " + ", ".join(f"{desk.video_name(video)}: {own}" for video, own in numbers.items()))
    if _SOME_PEOPLE.search(desk.asked.understood.counted):
        notes.append("The object memory tracks people; it does not distinguish men, women, children or roles.")
    return notes


def _cited(desk: Desk, memory: ObjectMemory, count: Count) -> list[UUID]:
    """Return the events in which what was counted is first visible; of a number at once, the event of its moment."""
    if count.moment is not None and count.things:
        there = desk.events_at(count.things[0].video_id, Span(count.moment, count.moment + 1), limit=1)
        return [event.id for event in there]
    shown_of = {shown.thing.id: shown for shown in memory.objects}
    own = [shown_of[thing.id] for thing in count.things[:MOST_CITED]]
    events = first_events(desk, own)
    places = (moment_of(shown) for shown in own)
    return list(dict.fromkeys(place.event_id for place in places if place and place.event_id in events))


def _places(desk: Desk, count: Count) -> str:
    """Return when the things are first visible, or most of them at once, as " (0:01:05, 0:02:00)"; "" without any."""
    if count.moment is not None:
        firsts = [(thing.video_id, count.moment) for thing in count.things[:1]]
    else:
        firsts = sorted({(thing.video_id, thing.spans[0].start_ms) for thing in count.things})
    named = [moment_in_words(desk, video_id, ms) for video_id, ms in firsts[:PLACES_SHOWN]]
    named = list(dict.fromkeys(named))
    more = [phrases_of(desk.asked).more.format(n=len(firsts) - PLACES_SHOWN)] if len(firsts) > PLACES_SHOWN else []
    return f" ({', '.join([*named, *more])})" if named else ""
