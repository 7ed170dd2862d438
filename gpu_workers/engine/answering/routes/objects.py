"""Route `objects`: how many people, animals, vehicles and things, counted in the object memory.

Tracks break and join, so a number is "about" unless every object is certain to be one thing. Entities of the graph are
never counted: one person has as many names as events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np

from gpu_workers.engine.answering.agent.object_tools import (
    ObjectMemory,
    TooWide,
    first_events,
    moment_of,
    read_memory,
)
from gpu_workers.engine.answering.agent.step_records import StepRecorder
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.routes.choosing import chosen_by_number
from gpu_workers.engine.answering.routes.ending import MOST_CITED, Claim, RouteResult, moment_in_words, route_answer
from gpu_workers.engine.answering.routes.groups import Group, group_notes, groups_of
from gpu_workers.engine.answering.routes.object_counts import ObjectCount, counts_of
from gpu_workers.engine.answering.routes.phrases import phrases_of
from gpu_workers.engine.answering.routes.scan import answer_by_scan
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import ModelError, embed_queries
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
    toolbox = Toolbox(asked, calls)
    if not asked.understood.counted or not asked.graph.objects(limit=1):
        return _by_scan(asked, calls, "no object memory: the number of times is counted, not the number of things")
    recorder = StepRecorder(toolbox, total=1)
    with calls.timed("objects"), recorder.step("count", counted=asked.understood.counted) as step:
        try:
            memory = read_memory(toolbox)
        except TooWide as error:
            step.observation = str(error)
            return _by_scan(asked, calls, str(error))
        things = [shown.thing for shown in memory.objects]
        found = _matching(toolbox, things)
        if found is None:
            step.observation = f"No object has that name. There are: {categories_there(things)}."
            return _by_scan(asked, calls, step.observation)
        counted = () if found.colour_missing else found.objects
        unwatched = _unwatched(toolbox, memory)
        tallies = [_in_group(toolbox, group, counted) for group in groups_of(toolbox)]
        if asked.understood.comparison in ("most", "fewest"):
            tallies.sort(key=lambda tally: tally.counts[0].n, reverse=asked.understood.comparison == "most")
        if not tallies:
            counts = counts_of(asked.understood.counting, counted, least=bool(unwatched))
            tallies = [_ObjectTally(toolbox, memory, counts)]
        numbers = "; ".join(map(_in_words, tallies))
        step.observation = f"{numbers} of {len(counted)} objects for {as_data(asked.understood.counted)}"
    return _answer(toolbox, tallies, unwatched, recorder)


def _in_words(tally: _ObjectTally) -> str:
    numbers = ", ".join(f"{count.kind}: {count.n}" for count in tally.counts)
    return f"{tally.group.label}: {numbers}" if tally.group is not None else numbers


def _unwatched(toolbox: Toolbox, memory: ObjectMemory) -> list[UUID]:
    """Return the videos in scope of which the object memory has nothing: nothing was there, or nobody looked."""
    watched = {shown.thing.video_id for shown in memory.objects}
    return [video_id for video_id in toolbox.videos.values() if video_id not in watched]


def _by_scan(asked: Asked, calls: Calls, why: str) -> Answer | None:
    answer = answer_by_scan(asked, calls)
    if answer is None:
        return None
    return replace(answer, degraded=tuple(sorted({*answer.degraded, "no_object_memory"})), notes=(why, *answer.notes))


def _matching(toolbox: Toolbox, things: Sequence[StoredObject]) -> Matches | None:
    """Return the objects that are meant; None if the words name no kind of thing that is tracked."""
    words = toolbox.asked.understood.counted

    def embed(texts: Sequence[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        embedder = toolbox.asked.models.text_embedder
        query = embed_queries(embedder, texts[:1], meter=toolbox.meter)
        return np.concatenate([query, embedder.embed(texts[1:], meter=toolbox.meter)])

    try:
        found = matching(words, things, embed)
    except ModelError:
        return None
    return found if found.objects or named_things(words)[0] else None


def _in_group(toolbox: Toolbox, group: Group, counted: Sequence[StoredObject]) -> _ObjectTally:
    """Return the numbers of a part of the scope. Raises TooWide."""
    graph = stretches_of(toolbox.asked.graph, group.spans)
    inner = Toolbox(replace(toolbox.asked, graph=graph), toolbox.calls, evidence=toolbox.evidence)
    memory = read_memory(inner)
    meant = {thing.id for thing in counted}
    own = [shown.thing for shown in memory.objects if shown.thing.id in meant]
    return _ObjectTally(
        inner, memory, counts_of(toolbox.asked.understood.counting, own, least=bool(_unwatched(inner, memory))), group
    )


def _answer(
    toolbox: Toolbox, tallies: Sequence[_ObjectTally], unwatched: Sequence[UUID], recorder: StepRecorder
) -> Answer | None:
    asked = toolbox.asked
    counts = [count for tally in tallies for count in tally.counts]
    choice = None
    if asked.question.choices:
        exact = len(counts) == 1 and counts[0].sure == "exactly"
        choice = chosen_by_number(asked.question.choices, counts[0].n) if exact else None
        if choice is None:
            return None
    claims = [claim for tally in tallies for claim in _claims(tally)]
    notes = [*group_notes(toolbox, len(tallies)), *_notes(toolbox, counts, unwatched, grouped=len(tallies) > 1)]
    text = asked.question.choices[choice] if choice is not None else _text(toolbox, tallies)
    if _narrows_people(asked.understood.counted) and choice is None:
        text = f"{text} {notes[-1]}"
    confidences = [thing.confidence for count in counts for thing in count.things]
    return route_answer(
        toolbox,
        RouteResult(
            text,
            head="objects",
            records=recorder.records,
            choice=choice,
            reasoning="; ".join(notes),
            notes=notes,
            shares={"confidence": round(min(confidences, default=0.0), 4)},
        ),
        claims,
    )


def _claims(tally: _ObjectTally) -> list[Claim]:
    """Return a claim for each number, with the events that it rests on."""
    claims = []
    for count in tally.counts:
        cited, said = (
            _cited(tally.toolbox, tally.memory, count),
            phrases_of(tally.toolbox.asked).opening(_said(tally, count)),
        )
        text = said if tally.group is None else f"{tally.group.label}: {_said(tally, count)}"
        claims.append(Claim(text, tuple(cited), "supported" if cited else "unverified"))
    return claims


def _text(toolbox: Toolbox, tallies: Sequence[_ObjectTally]) -> str:
    phrases = phrases_of(toolbox.asked)
    parts = []
    for tally in tallies:
        numbers = "; ".join(f"{_said(tally, count)}{_places(tally.toolbox, count)}" for count in tally.counts)
        if tally.group is None:
            parts.append(phrases.opening(numbers))
        elif tally.group.spans:
            parts.append(f"{tally.group.label}: {numbers}")
        else:
            parts.append(f"{tally.group.label}: {phrases.outside}")
    return f"{'; '.join(parts)}."


def _said(tally: _ObjectTally, count: ObjectCount) -> str:
    """Return a number with what it counts, as "about 2 people"."""
    asked, phrases = tally.toolbox.asked, phrases_of(tally.toolbox.asked)
    what = as_data(named_things(asked.understood.counted)[0] or asked.understood.counted)
    forms = {
        "at once": phrases.at_once,
        "entered": phrases.entered,
        "left": phrases.left,
        "entries": phrases.entries,
        "exits": phrases.exits,
    }
    if count.n == 1 and count.kind in ("total", "at once") and not asked.answer_language:
        what = _one_of(what)
    return forms.get(count.kind, phrases.objects).format(number=phrases.number(count.sure, count.n), what=what)


def _one_of(what: str) -> str:
    """Return an English name of several things as that of one; longer words, which may be a sentence, as they are."""
    *before, last = what.split() or [""]
    categories = categories_named(name_tokens(last)).get(singular(last.casefold()), frozenset())
    if not categories or len(before) >= MOST_NAME_WORDS:
        return what
    one = singular(last)
    return " ".join([*before, next(iter(categories)) if one == last and len(categories) == 1 else one])


def _narrows_people(counted: str) -> bool:
    """Whether the words name people by another word than person: the object memory does not distinguish them."""
    named = {word for word, categories in categories_named(name_tokens(counted)).items() if "person" in categories}
    return bool(named - {"person", "people", "individual"})


def _notes(toolbox: Toolbox, counts: Sequence[ObjectCount], unwatched: Sequence[UUID], *, grouped: bool) -> list[str]:
    things = [thing for count in counts for thing in count.things]
    notes = [f"counted in the object memory ({', '.join(dict.fromkeys(count.kind for count in counts))})"]
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


def _cited(toolbox: Toolbox, memory: ObjectMemory, count: ObjectCount) -> list[UUID]:
    """Return the events in which what was counted is first visible; of a number at once, the event of its moment."""
    if count.moment is not None and count.things:
        there = toolbox.events_at(count.things[0].video_id, Span(count.moment, count.moment + 1), limit=1)
        return [event.id for event in there]
    shown_of = {shown.thing.id: shown for shown in memory.objects}
    own = [shown_of[thing.id] for thing in count.things[:MOST_CITED]]
    events = first_events(toolbox, own)
    places = (moment_of(shown) for shown in own)
    return list(dict.fromkeys(place.event_id for place in places if place and place.event_id in events))


def _places(toolbox: Toolbox, count: ObjectCount) -> str:
    """Return when the things are first visible, or most of them at once, as " (0:01:05, 0:02:00)"; "" without any."""
    if count.moment is not None:
        firsts = [(thing.video_id, count.moment) for thing in count.things[:1]]
    else:
        firsts = sorted({(thing.video_id, thing.spans[0].start_ms) for thing in count.things})
    named = [moment_in_words(toolbox, video_id, ms) for video_id, ms in firsts[:PLACES_SHOWN]]
    named = list(dict.fromkeys(named))
    more = [phrases_of(toolbox.asked).more.format(n=len(firsts) - PLACES_SHOWN)] if len(firsts) > PLACES_SHOWN else []
    return f" ({', '.join([*named, *more])})" if named else ""
