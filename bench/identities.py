"""Mentions of known identities in the style of a long video's events, for measuring linking.

An identity has a type, two or three names that people use for it and a pool of traits. Each appearance takes one name
and some of the traits, in varied words. Appearances follow Zipf's law. The vectors are MiniLM's vectors of these texts.
"""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bench.figures import show_progress
from gpu_workers.engine.ekg import EntityMention, Vector, unit
from gpu_workers.engine.indexing.identity import identity_text
from gpu_workers.engine.models.roles import Meter, TextEmbedder
from gpu_workers.engine.models.weights import cache_dir

_PEOPLE = {
    "man": ("guy", "male pedestrian"), "woman": ("lady", "female pedestrian"), "boy": ("kid", "young boy"),
    "girl": ("young girl", "child"), "cyclist": ("bike rider", "person on a bicycle"), "guard": ("security guard",),
    "waiter": ("server", "restaurant worker"), "cook": ("chef", "kitchen worker"), "nurse": ("medical worker",),
    "farmer": ("field worker",), "driver": ("motorist",), "runner": ("jogger",), "courier": ("delivery person",),
    "singer": ("performer", "vocalist"), "painter": ("artist",), "old man": ("elderly man",),
}  # fmt: skip
_VEHICLES = {
    "car": ("sedan", "automobile"), "van": ("delivery van",), "bus": ("city bus",), "truck": ("lorry",),
    "motorcycle": ("motorbike",), "bicycle": ("bike",), "taxi": ("cab",), "tram": ("streetcar",), "boat": ("rowboat",),
}  # fmt: skip
_ANIMALS = {
    "dog": ("hound", "puppy"), "cat": ("kitten",), "horse": ("pony",), "raccoon": ("masked animal",),
    "deer": ("doe",), "heron": ("wading bird",), "fox": ("red fox",), "crow": ("black bird",), "cow": ("cattle",),
}  # fmt: skip
_OBJECTS = {
    "suitcase": ("luggage",), "backpack": ("rucksack",), "umbrella": ("parasol",), "bottle": ("flask",),
    "pan": ("frying pan",), "laptop": ("notebook computer",), "guitar": ("acoustic guitar",), "bench": ("seat",),
    "box": ("parcel", "package"), "knife": ("kitchen knife",), "lamp": ("light",), "ladder": ("step ladder",),
}  # fmt: skip
_PLACES = {
    "street": ("road",), "kitchen": ("galley",), "park": ("garden",), "station": ("train station",), "shop": ("store",),
    "bridge": ("footbridge",), "market": ("street market",), "river bank": ("shore",), "garage": ("car park",),
}  # fmt: skip
_KINDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "person": _PEOPLE,
    "vehicle": _VEHICLES,
    "animal": _ANIMALS,
    "object": _OBJECTS,
    "place": _PLACES,
}
_SHARES = {"person": 0.5, "vehicle": 0.15, "animal": 0.1, "object": 0.15, "place": 0.1}
_COLOURS = (
    "red", "dark blue", "light blue", "green", "black", "white", "grey", "yellow", "orange", "brown", "pink", "purple",
    "beige", "silver", "turquoise", "maroon", "olive", "cream", "golden", "striped",
)  # fmt: skip
_TRAITS = {
    "person": (
        "{c} jacket", "{c} cap", "{c} scarf", "{c} trousers", "{c} backpack", "a beard", "glasses", "long hair",
        "short hair", "a ponytail", "a {c} dress", "rubber boots", "a {c} apron", "headphones", "a walking stick",
        "a {c} uniform", "a tattooed arm", "a {c} hoodie", "a straw hat", "gloves", "a {c} tie", "a name badge",
    ),
    "vehicle": (
        "{c} paint", "a roof rack", "a dented door", "tinted windows", "a {c} stripe", "a broken headlight",
        "a company logo", "an open trunk", "a spare wheel", "a foreign plate", "mud on its sides", "a {c} trailer",
    ),
    "animal": (
        "{c} fur", "a {c} collar", "a limp", "one white paw", "a long tail", "torn ear", "wet coat", "a {c} tag",
        "a spotted back", "a scar on its face", "very thin", "a young one beside it",
    ),
    "object": (
        "{c} cover", "a cracked corner", "a {c} label", "metal edges", "a torn strap", "two handles", "a {c} sticker",
        "half full", "made of wood", "made of leather", "rusty", "wrapped in foil",
    ),
    "place": (
        "{c} walls", "wet ground", "a fountain", "a row of trees", "neon signs", "a {c} awning", "cobblestones",
        "fluorescent light", "a staircase", "parked bicycles", "a wide window", "a {c} door", "crowded", "empty",
    ),
}  # fmt: skip
_FORMS = ("with {t}", "has {t}", "seen with {t}", "can be told by {t}", "{t}")


@dataclass(frozen=True, slots=True)
class Identity:
    kind: str
    names: tuple[str, ...]
    traits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cast:
    """Mentions in time order. truth: the identity of each mention. events: the mentions of each event."""

    mentions: tuple[EntityMention, ...]
    vectors: NDArray[np.float32]
    truth: NDArray[np.int64]
    events: tuple[range, ...]


def identities(count: int, rng: random.Random) -> list[Identity]:
    """Return count identities, no two of one kind with the same traits."""
    made: dict[tuple[str, ...], Identity] = {}
    while len(made) < count:
        kind = rng.choices(list(_SHARES), list(_SHARES.values()))[0]
        word = rng.choice(list(_KINDS[kind]))
        traits = tuple(trait.format(c=rng.choice(_COLOURS)) for trait in rng.sample(_TRAITS[kind], 4))
        names = (f"{word} with {traits[0]}", *_KINDS[kind][word])
        made.setdefault((word, *sorted(traits)), Identity(kind, names, traits))
    return list(made.values())


def cast(
    embedder: TextEmbedder, *, mentions: int, people: int, texts_each: int = 3, seed: int = 0, per_event: int = 3
) -> Cast:
    """Return this number of mentions of at most this number of identities.

    texts_each: number of embedded wordings per identity. Each mention takes one of them, turned by a few degrees in a
    direction of its own, as the rest of a description would do. This makes 36,000 vectors from a few thousand texts.
    """
    rng, noise = random.Random(seed), np.random.default_rng(seed)
    wordings = [_worded(identity, rng) for identity in identities(people, rng) for _ in range(texts_each)]
    weights = 1.0 / np.arange(1, people + 1)
    chosen = noise.choice(people, size=mentions, p=weights / weights.sum())
    # No identity is mentioned twice in one event; a second mention goes to another identity.
    events = tuple(range(at, min(at + per_event, mentions)) for at in range(0, mentions, per_event))
    for event in events:
        taken: set[int] = set()
        for at in event:
            while int(chosen[at]) in taken:
                chosen[at] = noise.integers(people)
            taken.add(int(chosen[at]))
    picks = chosen * texts_each + noise.integers(texts_each, size=mentions)
    used, indices = np.unique(picks, return_inverse=True)
    vectors = _embedded(embedder, [identity_text(wordings[pick]) for pick in used])
    turned = [_turned(vectors[index], noise) for index in indices]
    return Cast(tuple(wordings[pick] for pick in picks), np.stack(turned), chosen.astype(np.int64), events)


def with_roles(mentions: Cast, *, seed: int = 0) -> tuple[EntityMention, ...]:
    """Return the mentions of a cast with a part in their event, which most of them also state in name or description.

    That is how vision-language models write, whatever their prompt asks for.
    """
    rng = random.Random(seed)
    played = []
    for mention in mentions.mentions:
        verb, rest = rng.choice(_PARTS)
        doing = f"{_doing(verb)} {rest}"
        name, looks = mention.name, mention.description
        if rng.random() < 0.7:
            looks = ", ".join(rng.sample([looks, rng.choice((doing, f"is {doing}", f"who {verb} {rest}"))], 2))
        elif rng.random() < 0.5:
            name = f"{name} {doing}"
        played.append(replace(mention, name=name, description=looks, role=f"{verb} {rest}"))
    return tuple(played)


def _doing(verb: str) -> str:
    stem = verb.removesuffix("s")
    return f"{stem.removesuffix('e')}ing"


_PARTS = (
    ("walks", "to the bus stop"), ("opens", "the glass door"), ("carries", "a heavy parcel"), ("waits", "at the gate"),
    ("talks", "on the phone"), ("crosses", "the main road"), ("leaves", "the building"), ("blocks", "the driveway"),
    ("stands", "next to the counter"), ("follows", "another visitor"), ("drops", "a paper bag"),
    ("lies", "on the floor"), ("turns", "left at the corner"), ("falls", "down the stairs"),
    ("hands", "over the keys"), ("enters", "from the right"),
)  # fmt: skip


def embedded(embedder: TextEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of texts, from the cache of this machine if they are there."""
    return _embedded(embedder, texts)


def _embedded(embedder: TextEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of texts, cached because embedding thousands of texts takes longer than the measurement."""
    digest = hashlib.sha256("\n".join((embedder.name, *texts)).encode()).hexdigest()[:16]
    path = cache_dir() / "bench" / f"mentions-{digest}.npy"
    if not path.exists():
        show_progress(f"embedding {len(texts)} mentions")
        vectors = embedder.embed(texts, meter=Meter())
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{os.getpid()}-{path.name}")
        np.save(part, vectors)
        part.replace(path)
    return np.asarray(np.load(path), dtype=np.float32)


def _worded(identity: Identity, rng: random.Random) -> EntityMention:
    name = identity.names[0] if rng.random() < 0.7 else rng.choice(identity.names)
    traits: Sequence[str] = rng.sample(identity.traits, 3)
    description = ", ".join(rng.choice(_FORMS).format(t=trait) for trait in traits)
    return EntityMention(name, identity.kind, description)


def _turned(vector: Vector, noise: np.random.Generator, degrees: float = 10.0) -> Vector:
    aside = noise.standard_normal(len(vector))
    aside -= (aside @ vector) * vector
    angle = np.radians(noise.uniform(0.0, degrees))
    return unit(np.cos(angle) * vector + np.sin(angle) * unit(aside))
