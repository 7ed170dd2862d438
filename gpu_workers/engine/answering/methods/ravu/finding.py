"""The functions of a program that search by words or ask the reasoner: `localize`, `filter` and `neighbors`.

The reasoner reads texts of the video as data and answers with numbers of a list. It can choose among what a search in
the scope has found, and nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar
from uuid import UUID

from gpu_workers.engine.answering.agent.object_tools import embedded
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.methods.ravu.relation_check import seen_relations
from gpu_workers.engine.answering.methods.ravu.values import (
    Moment,
    Moments,
    Run,
    Thing,
    Things,
    entity_thing,
    object_thing,
    place_of,
)
from gpu_workers.engine.answering.scan_price import EVENT_TOKENS
from gpu_workers.engine.answering.scanning import judge_events, rank_texts
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Span, Vector
from gpu_workers.engine.languages.words import content_words
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.ports import Hit, StoredObject, ViewName, Within
from gpu_workers.engine.retrieval.frames import ROWS, frames_of_hits
from gpu_workers.engine.retrieval.object_names import matching

Found = TypeVar("Found")

CANDIDATES = 10
"""Number of the best hits that are ranked again (RAVU: top-k by embedding, then the reasoner on texts)."""

MOST_PARTS = 16
"""Maximum number of separate time ranges that a search `within` moments reads."""

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
        hits = _search(run, "entity", run.toolbox.text_vector(phrase), within)
        ids = list(dict.fromkeys(hit.item for hit in hits if hit.item is not None))[:CANDIDATES]
        known = run.graph.entities(ids)
        things = [entity_thing(known[key]) for key in ids if key in known]
        return Things(_fitting(run, phrase, things, lambda: [thing.words for thing in things]))
    found = nearest(run, phrase, "event" if what == "event" else "frame", within)

    def texts() -> list[str]:
        return [run.toolbox.event_words(event, EVENT_TOKENS) for event in run.toolbox.load(found.event_ids)]

    return Moments(_fitting(run, phrase, found.items, texts))


def nearest(run: Run, phrase: str, view: ViewName = "event", within: Moments | None = None) -> Moments:
    """Return the CANDIDATES events nearest to the phrase by their text or by a frame, best first, without asking the
    reasoner. Raises ModelError of an embedder."""
    vector = run.toolbox.frame_vector(phrase) if view == "frame" else run.toolbox.text_vector(phrase)
    hits = _search(run, view, vector, within)
    best = {hit.event_id: hit for hit in reversed(hits)}
    ids = list(dict.fromkeys(hit.event_id for hit in hits))[:CANDIDATES]
    pictures = frames_of_hits(run.graph, [best[key] for key in ids]) if view == "frame" else []
    times = {frame.event_id: frame.ms for frame in pictures}
    return Moments(
        tuple(
            Moment(place_of(event), best[event.id].similarity, times.get(event.id)) for event in run.toolbox.load(ids)
        )
    )


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
    things = [object_thing(stored) for stored in found.objects]
    return Things(tuple(thing for thing in things if within is None or _visible(thing, within)))


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
    """Return the best hits of a view, or of the time ranges that within names, best first."""
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
    """Return the time of the moments as separate ranges, at most MOST_PARTS, the first ones in time."""
    parts: list[Within] = []
    for moment in sorted(within.items, key=lambda moment: (moment.place.video_id, moment.place.span)):
        place = moment.place
        if parts and parts[-1].video_id == place.video_id and place.span.start_ms <= parts[-1].span.end_ms:
            start, end = parts[-1].span.start_ms, max(parts[-1].span.end_ms, place.span.end_ms)
            parts[-1] = Within(place.video_id, Span(start, end))
        else:
            parts.append(Within(place.video_id, place.span))
    if len(parts) > MOST_PARTS:
        run.limit(f"searched {MOST_PARTS} of {len(parts)} time ranges")
    return parts[:MOST_PARTS]


def _fitting(run: Run, phrase: str, items: Sequence[Found], texts: Callable[[], list[str]]) -> tuple[Found, ...]:
    """Return those of the items that the reasoner says fit the phrase, best first; the first one alone if it is not
    asked or cannot be read. texts: of the items, in their order."""
    best = tuple(items[:1])
    if not items or not run.ranks:
        return best
    if not run.take_call():
        run.limit("not ranked again: no call is left for it")
        return best
    try:
        ranked = rank_texts(run.toolbox.asked, run.toolbox.calls, texts(), phrase, meter=run.toolbox.meter)
    except (Halt, ModelError) as error:
        run.limit(f"not ranked again: {run.toolbox.record_failure(error)}")
        return best
    if ranked is None:
        run.limit("not ranked again: unreadable")
        return best
    return tuple(items[n] for n in ranked)


# --- filter ----------------------------------------------------------------------------------------------------------


def filter_moments(run: Run, of: Moments, predicate: str) -> Moments:
    """Return those of the first MOST_FILTERED events of which the reasoner says that the statement is true.

    Raises ModelError if it cannot be asked or says nothing: all events would pass for those that are true.
    """
    if len(of.items) > MOST_FILTERED:
        run.limit(f"judged {MOST_FILTERED} of {len(of.items)} events")
    kept = of.items[:MOST_FILTERED]
    if not run.take_call():
        raise ModelError("no_call_left", "no call is left for the filter", retryable=False)
    toolbox = run.toolbox
    events = toolbox.load(moment.id for moment in kept)
    try:
        judged = judge_events(toolbox.asked, toolbox.calls, events, predicate, stage="filter", meter=toolbox.meter)
    except (Halt, ModelError) as error:
        raise ModelError(toolbox.record_failure(error), "the filter was not asked", retryable=False) from error
    if judged.error:
        raise ModelError(judged.error, "the filter has no verdict", retryable=False)
    if open_events := len(events) - len(judged.true) - len(judged.false):
        run.limit(f"no verdict on {open_events} of {len(events)} events")
    return Moments(tuple(moment for moment in kept if moment.id in judged.true))


# --- neighbors -------------------------------------------------------------------------------------------------------

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 as fractions of the picture; y grows downward."""


def _near(a: Box, b: Box) -> bool:
    """Whether the gap between the boxes is, on each axis, at most the longer of their sides."""
    return all(
        max(a[low], b[low]) - min(a[high], b[high]) <= max(a[high] - a[low], b[high] - b[low])
        for low, high in ((0, 2), (1, 3))
    )


RELATIONS: Mapping[str, Callable[[Box, Box], bool]] = {
    "left_of": lambda a, b: (a[0] + a[2]) / 2 < b[0],
    "right_of": lambda a, b: (a[0] + a[2]) / 2 > b[2],
    "above": lambda a, b: (a[1] + a[3]) / 2 < b[1],
    "below": lambda a, b: (a[1] + a[3]) / 2 > b[3],
    "near": _near,
}
"""Relations that are measured from boxes, not read from the graph. All but "near" compare the middle of a with all of
b."""


def neighbors(run: Run, of: Things, relation: str | None, within: Moments | None) -> Things:
    """Return the things that stand in this relation to one of `of`, or in any written relation without one. Written
    relations are checked against frames, if the effort asks for it.

    relation: one of RELATIONS for objects ("left_of": what is left of them), else words of a stated relation, whose
    inflection does not matter. within: only at these moments.
    """
    spatial = (relation or "").strip().lower().replace(" ", "_")
    if spatial in RELATIONS and of.objects:
        return _measured(run, of.objects, spatial, within)
    if of.entity_ids:
        return _stated(run, of.entity_ids, spatial.replace("_", " "), within)
    run.note("tracked objects have no written relations")
    return Things()


def _stated(run: Run, entity_ids: Sequence[UUID], relation: str, within: Moments | None) -> Things:
    wanted = content_words(relation)
    others: dict[UUID, None] = {}
    used = [
        stated
        for stated in run.graph.relations_of(entity_ids, limit=ROWS)
        if (not wanted or wanted & content_words(stated.predicate))
        and (within is None or stated.place.event_id in within.event_ids)
    ]
    for stated in seen_relations(run, used):
        others |= dict.fromkeys(end for end in (stated.source_id, stated.target_id) if end not in entity_ids)
    known = run.graph.entities(list(others))
    return Things(tuple(entity_thing(known[key]) for key in others if key in known))


def _measured(run: Run, of: Sequence[StoredObject], relation: str, within: Moments | None) -> Things:
    """Return the objects whose box stands in the relation in at least half of the pictures that show both."""
    given = {stored.id for stored in of}
    others = [stored for stored in tracked(run) if stored.id not in given and any(_meets(stored, one) for one in of)]
    places = [moment.place for moment in within.items] if within is not None else None
    boxes: dict[UUID, dict[int, Box]] = defaultdict(dict)
    for track in run.graph.tracks_of([stored.id for stored in (*of, *others)], limit=ROWS):
        for ms, x0, y0, x1, y1 in track.observed.boxes:
            if places is None or any(p.video_id == track.video_id and p.span.contains(ms) for p in places):
                boxes[track.object_id][ms] = (x0, y0, x1, y1)

    def mostly(a: Mapping[int, Box], b: Mapping[int, Box]) -> bool:
        verdicts = [RELATIONS[relation](a[ms], b[ms]) for ms in a.keys() & b.keys()]
        return bool(verdicts) and 2 * sum(verdicts) >= len(verdicts)

    found = [other for other in others if any(mostly(boxes[other.id], boxes[key]) for key in given)]
    return Things(tuple(map(object_thing, found)))


def _meets(a: StoredObject, b: StoredObject) -> bool:
    """Whether the objects are visible together, in one video."""
    return a.video_id == b.video_id and any(one.overlaps(other) for one in a.spans for other in b.spans)
