"""`neighbors`: what stands next to a thing in the picture, by measured boxes, or is related to it in the graph.

A relation of places is measured wherever objects are tracked. The graph's written relations can be invented by the
model that wrote them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from gpu_workers.engine.answering.methods.ravu.finding import tracked
from gpu_workers.engine.answering.methods.ravu.program import SPATIAL
from gpu_workers.engine.answering.methods.ravu.state import Run
from gpu_workers.engine.answering.methods.ravu.values import Moments, Things, entity_thing, object_thing
from gpu_workers.engine.answering.words import content_words
from gpu_workers.engine.ports import EventPlace, StoredObject
from gpu_workers.engine.retrieval.frames import ROWS

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
