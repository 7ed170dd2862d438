"""Which entities are which tracked objects: by kind, by colour, and by being there at the same time.

An event's words name who takes part, and the tracker measures what is visible. In each event the people of its words
are compared with the people in its picture, the vehicles with the vehicles. A pair is certain if nothing else fits
either of them, event after event; two people in the same dark clothes are never guessed apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

import numpy as np

from gpu_workers.engine.ekg import EntityMention, EntityObject, ObjectState, Span
from gpu_workers.engine.models.observer.categories import ANIMALS, VEHICLES
from gpu_workers.engine.retrieval.object_names import categories_named, colours_named, name_tokens

SAME_COLOUR, NO_COLOUR = 1.0, 0.6
"""Fit of a mention and an object of its kind: their colours agree, or one of them has no colour. Judgement, not
measured: a lone person without a named colour counts, two such people do not."""

LEAST_CONFIDENCE = 0.5
"""Minimum confidence of a link that is kept."""

_OF_TYPE = {"person": frozenset({"person"}), "vehicle": VEHICLES, "animal": ANIMALS}
_MOVING = frozenset({"person"}) | VEHICLES | ANIMALS


def object_links(
    events: Iterable[tuple[Span, Sequence[tuple[UUID, EntityMention]]]], objects: Sequence[ObjectState]
) -> tuple[EntityObject, ...]:
    """Return the links between the entities of one index and its objects, by entity, then by falling confidence.

    events: span of each event, with (entity id, mention) of those who take part, each entity once.

    In an event, a pair's share is its fit, times its part of all fits of the entity, times its part of all fits of the
    object. The confidence of a pair is the mean share over the events in which the entity takes part and the object is
    visible. Links below LEAST_CONFIDENCE are left out.
    """
    owners, starts, ends = _visible(objects)
    shares: defaultdict[tuple[UUID, int], list[float]] = defaultdict(list)
    for span, mentions in events:
        seen = np.unique(owners[(starts < span.end_ms) & (ends > span.start_ms)]).tolist()
        if not seen or not mentions:
            continue
        fits = np.array([[fit(mention, objects[k]) for k in seen] for _, mention in mentions])
        of_entity, of_object = fits.sum(axis=1, keepdims=True), fits.sum(axis=0, keepdims=True)
        both = of_entity * of_object
        share = np.divide(fits**3, both, out=np.zeros_like(fits), where=both > 0.0)
        for row, (entity_id, _) in enumerate(mentions):
            for column, k in enumerate(seen):
                shares[entity_id, k].append(float(share[row, column]))
    links = [
        EntityObject(entity_id, objects[k].id, confidence)
        for (entity_id, k), found in shares.items()
        if (confidence := round(sum(found) / len(found), 4)) >= LEAST_CONFIDENCE
    ]
    return tuple(sorted(links, key=lambda link: (link.entity_id, -link.confidence, link.object_id)))


def fit(mention: EntityMention, thing: ObjectState) -> float:
    """Return how well a mention's words fit an object, 0 to 1; 0 if its kind or its colour is another one."""
    if thing.category not in _categories(mention):
        return 0.0
    colours = colours_named(name_tokens(f"{mention.name} {mention.description}"))
    if not colours or not thing.colour:
        return NO_COLOUR
    return SAME_COLOUR if thing.colour in frozenset[str]().union(*colours.values()) else 0.0


def _categories(mention: EntityMention) -> frozenset[str]:
    """Return the detector's categories that a mention can be: those that its name gives, as far as its type allows."""
    named = categories_named(name_tokens(mention.name))
    if mention.type in _OF_TYPE:
        allowed = _OF_TYPE[mention.type]
        return (frozenset[str]().union(*named.values()) & allowed) or allowed
    if mention.type != "object":
        return frozenset()
    # The first word that names a thing: a "suitcase with a dog tag" is a suitcase.
    tokens = name_tokens(mention.name)
    text = f" {' '.join(tokens)} "
    first = min(named, key=lambda word: (text.index(f" {word} "), -len(word)), default="")
    return named.get(first, frozenset({" ".join(tokens)})) - _MOVING


def _visible(objects: Sequence[ObjectState]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return index of the object, begin and end (ms) of each span in which an object is visible."""
    rows = [(k, span.start_ms, span.end_ms) for k, thing in enumerate(objects) for span in thing.spans]
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]
