"""`localize` and `filter`: the functions of a program that search by words and ask the reasoner.

The reasoner reads texts of the video as data and answers with numbers of a list. It can choose among what a search in
the scope has found, and nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from gpu_workers.engine.answering.agent.object_tools import embedded
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.methods.ravu.functions import moments_of
from gpu_workers.engine.answering.methods.ravu.program import SPATIAL
from gpu_workers.engine.answering.methods.ravu.values import (
    Moments,
    NoVerdict,
    Run,
    Thing,
    Things,
    entity_thing,
    object_thing,
)
from gpu_workers.engine.answering.scan_price import EVENT_TOKENS
from gpu_workers.engine.answering.scanning import judge_events, rank_texts
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Span, Vector
from gpu_workers.engine.languages.words import content_words
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.ports import EventPlace, Hit, StoredObject, ViewName, Within
from gpu_workers.engine.retrieval.frames import ROWS, frames_of_hits
from gpu_workers.engine.retrieval.object_names import matching

CANDIDATES = 10
"""Number of the best hits that are ranked again (RAVU: top-k by embedding, then the reasoner on texts)."""

MOST_PARTS = 16
"""Maximum number of separate stretches that a search `within` moments reads."""

MOST_OBJECTS = 5_000
"""Maximum number of tracked objects whose words are compared with a phrase."""

MOST_FILTERED = 16


def localize(run: Run, phrase: str, what: str, within: Moments | None) -> Moments | Things:
    """Return what fits the phrase: of CANDIDATES hits those that the reasoner names, best first.

    Without that call the best hit alone: `first` or `after` of ten guesses would answer for the worst of them. Objects
    go by category, colour and meaning, all that fit. Raises ModelError of an embedder.
    """
    if what == "object":
        return _objects(run, phrase, within)
    if what == "entity":
        return _entities(run, phrase, within)
    return _events(run, phrase, within, view="event" if what == "event" else "frame")


def nearest(run: Run, phrase: str) -> Moments:
    """Return the CANDIDATES events nearest to the phrase, best first, without asking the reasoner. Raises ModelError of
    an embedder."""
    hits = _search(run, "event", run.toolbox.text_vector(phrase), None)
    scores = {hit.event_id: hit.similarity for hit in reversed(hits)}
    return moments_of(run, sorted(scores, key=lambda key: (-scores[key], key))[:CANDIDATES], scores)


def filter_moments(run: Run, of: Moments, predicate: str) -> Moments:
    """Return those of the first MOST_FILTERED events of which the reasoner says that the statement is true.

    Raises NoVerdict if it cannot be asked or says nothing: all events would pass for those that are true.
    """
    if len(of.items) > MOST_FILTERED:
        run.limit(f"judged {MOST_FILTERED} of {len(of.items)} events")
    kept = of.items[:MOST_FILTERED]
    if not run.take_call():
        run.note("the filter was not asked: no call is left for it")
        raise NoVerdict("no_call_left")
    events = run.toolbox.load([moment.place.event_id for moment in kept])
    try:
        judged = judge_events(
            run.toolbox.asked, run.toolbox.calls, events, predicate, stage="filter", meter=run.toolbox.meter
        )
    except (Halt, ModelError) as error:
        code = run.toolbox.record_failure(error)
        run.note(f"the filter was not asked: {code}")
        raise NoVerdict(code) from error
    if judged.error:
        run.note(f"the filter has no verdict: {judged.error}")
        raise NoVerdict(judged.error)
    if open_events := len(events) - len(judged.true) - len(judged.false):
        run.limit(f"no verdict on {open_events} of {len(events)} events")
    return Moments(tuple(moment for moment in kept if moment.place.event_id in judged.true))


def _events(run: Run, phrase: str, within: Moments | None, *, view: ViewName) -> Moments:
    vector = run.toolbox.frame_vector(phrase) if view == "frame" else run.toolbox.text_vector(phrase)
    hits = _search(run, view, vector, within)
    scores: dict[UUID, float] = {}
    for hit in hits:
        scores.setdefault(hit.event_id, hit.similarity)
    ids = list(scores)[:CANDIDATES]
    texts = (
        [run.toolbox.event_words(event, EVENT_TOKENS) for event in run.toolbox.load(ids)]
        if _asks(run, len(ids))
        else []
    )
    found = moments_of(run, [ids[n] for n in _ranked(run, phrase, texts, len(ids))], scores)
    if view == "event":
        return found
    times: dict[UUID, int] = {}
    for frame in frames_of_hits(run.graph, [hit for hit in hits if hit.event_id in found.event_ids]):
        times.setdefault(frame.event_id, frame.ms)
    return Moments(tuple(replace(moment, ms=times.get(moment.place.event_id)) for moment in found.items))


def _entities(run: Run, phrase: str, within: Moments | None) -> Things:
    hits = _search(run, "entity", run.toolbox.text_vector(phrase), within)
    ids = list(dict.fromkeys(hit.item for hit in hits if hit.item is not None))
    known = run.graph.entities(ids[:CANDIDATES])
    things = [entity_thing(known[key]) for key in ids[:CANDIDATES] if key in known]
    texts = [as_data(thing.words) for thing in things] if _asks(run, len(things)) else []
    return Things(tuple(things[n] for n in _ranked(run, phrase, texts, len(things))))


def _objects(run: Run, phrase: str, within: Moments | None) -> Things:
    """Return the tracked objects that the phrase means, as the tool object_lookup finds them. Raises ModelError of the
    embedder."""
    objects = tracked(run)
    found = matching(phrase, objects, lambda texts: embedded(run.toolbox, texts))
    if found.by_meaning:
        run.limit("no object has that name: found by meaning")
    if found.colour_missing:
        run.limit(f"none of these is {found.colour_missing}")
    if not found.objects and objects:
        run.note(f"categories here: {', '.join(sorted({as_data(stored.category) for stored in objects})[:20])}")
    things: list[Thing] = [object_thing(stored) for stored in found.objects]
    if within is not None:
        things = [thing for thing in things if _visible(thing, within)]
    return Things(tuple(things))


def tracked(run: Run) -> Sequence[StoredObject]:
    """Return the first MOST_OBJECTS tracked objects in scope, and note whether there are more."""
    objects = run.graph.objects(limit=MOST_OBJECTS + 1)
    if len(objects) > MOST_OBJECTS:
        run.limit(f"read the first {MOST_OBJECTS} tracked objects; there are more")
    return objects[:MOST_OBJECTS]


def _visible(thing: Thing, within: Moments) -> bool:
    places = [moment.place for moment in within.items if moment.place.video_id == thing.video_id]
    return any(place.span.overlaps(span) for place in places for span in thing.spans)


def _search(run: Run, view: ViewName, vector: Vector, within: Moments | None) -> list[Hit]:
    """Return the CANDIDATES best hits of a view, or the best ones of the parts of time that within names."""
    # A view counts items; several pictures of one event are one candidate.
    limit = 4 * CANDIDATES if view == "frame" else CANDIDATES
    parts: Sequence[Within | None] = _parts(run, within) if within is not None else [None]
    hits: dict[tuple[UUID, UUID | None], Hit] = {}
    for part in parts:
        for hit in run.toolbox.search(view, vector, limit, within=part):
            hits.setdefault((hit.event_id, hit.item), hit)
    run.toolbox.record_similarities(hit.similarity for hit in hits.values())
    return sorted(hits.values(), key=lambda hit: (-hit.similarity, hit.event_id, str(hit.item)))


def _parts(run: Run, within: Moments) -> list[Within]:
    """Return the time of the moments as separate stretches, at most MOST_PARTS, the first ones in time."""
    parts: list[Within] = []
    for moment in sorted(within.items, key=lambda moment: (moment.place.video_id, moment.place.span)):
        place = moment.place
        if parts and parts[-1].video_id == place.video_id and place.span.start_ms <= parts[-1].span.end_ms:
            start, end = parts[-1].span.start_ms, max(parts[-1].span.end_ms, place.span.end_ms)
            parts[-1] = Within(place.video_id, Span(start, end))
        else:
            parts.append(Within(place.video_id, place.span))
    if len(parts) > MOST_PARTS:
        run.limit(f"searched {MOST_PARTS} of {len(parts)} stretches of time")
    return parts[:MOST_PARTS]


def _asks(run: Run, candidates: int) -> bool:
    """Whether the reasoner is asked which of the candidates fit: there are some, and there is room for the call."""
    if not candidates or not run.ranks:
        return False
    if not run.take_call():
        run.limit("not ranked again: no call is left for it")
        return False
    return True


def _ranked(run: Run, phrase: str, texts: Sequence[str], candidates: int) -> list[int]:
    """Return the indices of the candidates that fit the phrase, best first. texts: empty if nobody is to be asked."""
    best = [0] if candidates else []
    if not texts:
        return best
    try:
        ranked = rank_texts(run.toolbox.asked, run.toolbox.calls, texts, phrase, meter=run.toolbox.meter)
    except (Halt, ModelError) as error:
        run.limit(f"not ranked again: {run.toolbox.record_failure(error)}")
        return best
    if ranked is None:
        run.limit("not ranked again: unreadable")
        return best
    return ranked


Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 as fractions of the picture; y grows downward."""


def neighbors(run: Run, of: Things, relation: str | None, within: Moments | None) -> Things:
    """Return the things that stand in this relation to one of `of`, or in any written relation without one.

    relation: one of SPATIAL for objects ("left_of": what is left of them), else words of a stated relation, whose
    inflection does not matter. within: only at these moments.
    """
    places = [moment.place for moment in within.items] if within is not None else None
    spatial = (relation or "").strip().lower().replace(" ", "_")
    if spatial in SPATIAL and of.ids("object"):
        return _measured(run, of.ids("object"), spatial, places)
    if not of.ids("entity"):
        run.note("tracked objects have no written relations")
        return Things()
    return _stated(run, of.ids("entity"), spatial.replace("_", " "), places)


def _stated(run: Run, entity_ids: Sequence[UUID], relation: str, places: Sequence[EventPlace] | None) -> Things:
    wanted = content_words(relation)
    events = {place.event_id for place in places} if places is not None else None
    others: dict[UUID, None] = {}
    for stated in run.graph.relations_of(entity_ids, limit=ROWS):
        if events is not None and stated.place.event_id not in events:
            continue
        if wanted and not wanted & content_words(stated.predicate):
            continue
        for end in (stated.source_id, stated.target_id):
            if end not in entity_ids:
                others[end] = None
    known = run.graph.entities(list(others))
    return Things(tuple(entity_thing(known[key]) for key in others if key in known))


def _measured(run: Run, object_ids: Sequence[UUID], relation: str, places: Sequence[EventPlace] | None) -> Things:
    """Return the objects whose box stands in the relation in at least half of the pictures that show both."""
    objects = {stored.id: stored for stored in tracked(run)}
    given = [objects[key] for key in object_ids if key in objects]
    others = [stored for stored in objects.values() if stored.id not in object_ids and _meets(stored, given)]
    ids = [stored.id for stored in (*given, *others)]
    boxes: dict[UUID, dict[int, Box]] = defaultdict(dict)
    for track in run.graph.tracks_of(ids, limit=ROWS):
        for ms, *box in track.observed.boxes:
            if places is None or any(p.video_id == track.video_id and p.span.contains(ms) for p in places):
                x0, y0, x1, y1 = box
                boxes[track.object_id][ms] = (x0, y0, x1, y1)
    holds = RELATIONS[relation]
    found = [other for other in others if any(_mostly(holds, boxes[other.id], boxes[one.id]) for one in given)]
    return Things(tuple(object_thing(stored) for stored in found))


def _meets(stored: StoredObject, given: Sequence[StoredObject]) -> bool:
    """Whether the object is visible together with one of given, in the same video."""
    return any(
        stored.video_id == one.video_id and any(a.overlaps(b) for a in stored.spans for b in one.spans) for one in given
    )


def _mostly(holds: Callable[[Box, Box], bool], a: Mapping[int, Box], b: Mapping[int, Box]) -> bool:
    """Whether a relation holds in at least half of the moments that have a box of both."""
    verdicts = [holds(a[ms], b[ms]) for ms in a.keys() & b.keys()]
    return bool(verdicts) and 2 * sum(verdicts) >= len(verdicts)


def _left_of(a: Box, b: Box) -> bool:
    """Whether the middle of a lies left of all of b."""
    return (a[0] + a[2]) / 2 < b[0]


def _above(a: Box, b: Box) -> bool:
    """Whether the middle of a lies above all of b."""
    return (a[1] + a[3]) / 2 < b[1]


def _right_of(a: Box, b: Box) -> bool:
    return (a[0] + a[2]) / 2 > b[2]


def _below(a: Box, b: Box) -> bool:
    return (a[1] + a[3]) / 2 > b[3]


def _near(a: Box, b: Box) -> bool:
    """Whether the gap between the boxes is, on each axis, at most the longer of their sides."""
    return all(
        max(a[low], b[low]) - min(a[high], b[high]) <= max(a[high] - a[low], b[high] - b[low])
        for low, high in ((0, 2), (1, 3))
    )


RELATIONS: Mapping[str, Callable[[Box, Box], bool]] = {
    "left_of": _left_of,
    "right_of": _right_of,
    "above": _above,
    "below": _below,
    "near": _near,
}
