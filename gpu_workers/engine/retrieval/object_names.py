"""The words that name tracked objects: the detector's categories, other words for them, and colours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.models.observer.categories import ANIMALS, BALLS, VEHICLES
from gpu_workers.engine.ports import StoredObject

_SYNONYMS: Mapping[str, str] = {
    "person": "people man men woman women boy girl child children kid adult human pedestrian walker passer-by worker "
    "player somebody someone anybody anyone everybody everyone guy lady gentleman visitor individual",
    "car": "automobile sedan taxi cab suv",
    "truck": "lorry van pickup",
    "bus": "coach minibus",
    "motorcycle": "motorbike scooter moped",
    "bicycle": "bike cycle cyclist",
    "airplane": "plane aircraft jet",
    "boat": "ship ferry",
    "dog": "puppy hound",
    "cat": "kitten",
    "couch": "sofa settee",
    "television": "tv monitor screen",
    "cell phone": "phone mobile smartphone telephone",
    "refrigerator": "fridge",
    "oven": "stove cooker",
    "cup": "mug glass",
    "wine glass": "glass",
    "bottle": "flask",
    "potted plant": "plant flowerpot",
    "dining table": "table desk",
    "computer mouse": "mouse",
    "remote control": "remote",
    "pair of scissors": "scissors",
    "handbag": "bag purse",
    "backpack": "bag rucksack",
    "suitcase": "bag luggage",
}
"""Other words for the detector's categories."""

_KINDS: Mapping[str, frozenset[str]] = {"vehicle": VEHICLES, "animal": ANIMALS, "ball": BALLS}

_PLAIN_COLOURS = ("white", "red", "orange", "yellow", "green", "blue", "purple", "pink", "brown")
COLOURS: Mapping[str, frozenset[str]] = {
    **{word: frozenset({word}) for word in _PLAIN_COLOURS},
    **{word: frozenset({"black", "dark"}) for word in ("black", "dark")},
    **{word: frozenset({"grey"}) for word in ("grey", "gray", "silver")},
}
"""The observer's colour words by the words of a text. Dark clothes may be black."""

FILLERS = frozenset(
    {"a", "all", "an", "any", "clothe", "in", "is", "object", "of", "something", "the", "thing", "wearing"}
)
"""Words next to a colour that name nothing themselves."""

WORD = re.compile(r"\w+(?:[-'’]\w+)*")


def name_tokens(text: str) -> list[str]:
    """Return the words of a text in lower case, nouns in the singular, in order."""
    return [singular(word) for word in WORD.findall(text.casefold())]


def singular(word: str) -> str:
    """Return the singular of an English noun that a category may be; other words are hardly changed."""
    for ending, single in (("ies", "y"), ("ches", "ch"), ("sses", "ss"), ("uses", "us"), ("xes", "x")):
        if word.endswith(ending):
            return word[: -len(ending)] + single
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural and word not in ("scissors", "skis") else word


def same_form(category: str) -> str:
    """Return a category as name_tokens() writes it."""
    return " ".join(name_tokens(category))


def categories_named(tokens: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return by word (or words) of the tokens the known categories that it names."""
    text = f" {' '.join(tokens)} "
    return {word: categories for word, categories in _VOCABULARY.items() if f" {word} " in text}


def colours_named(tokens: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return by word of the tokens the observer's colours that it names."""
    return {word: COLOURS[word] for word in tokens if word in COLOURS}


def _vocabulary() -> dict[str, frozenset[str]]:
    words: dict[str, set[str]] = {}
    for category in {*_SYNONYMS, *VEHICLES, *ANIMALS, *BALLS}:
        for word in (*map(singular, _SYNONYMS.get(category, "").split()), same_form(category)):
            words.setdefault(word, set()).add(category)
    for kind, categories in _KINDS.items():
        words.setdefault(kind, set()).update(categories)
    return {word: frozenset(categories) for word, categories in words.items()}


_VOCABULARY = _vocabulary()

NEARNESS = 0.6
"""Minimum cosine of a text and a category that do not share a word. With all-MiniLM-L6-v2 the lowest right pair of 40
words and the detector's 80 categories was 0.62 (people, person), and the highest wrong pair was 0.55 (phone, car); only
a wheelchair passes for a chair (0.68)."""

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to unit rows; the first text is the query."""


@dataclass(frozen=True, slots=True)
class Matches:
    """objects: best first. by_meaning: whether no word named their category. colour_missing: the colour that was named
    and that none of the objects has, "" if there is none."""

    objects: tuple[StoredObject, ...] = ()
    by_meaning: bool = False
    colour_missing: str = ""


def matching(words: str, objects: Sequence[StoredObject], embed: Embed) -> Matches:
    """Return the objects that the words mean.

    If a word names a category or a kind of things, only its objects match; if it names one that is not among objects,
    none does. Else those match whose "colour category" is nearest in meaning, from NEARNESS on. A colour narrows the
    objects down as long as one of them has it. Objects of one name are ordered by video and number. Raises ModelError.
    """
    tokens = name_tokens(words)
    colours = [word for word in tokens if word in COLOURS]
    there = {thing.category for thing in objects}
    named = _named(tokens, there)
    if not named and colours and set(tokens) - set(colours) <= FILLERS:
        named = there
    likely = [thing for thing in objects if thing.category in named]
    if named or not objects:
        return _coloured(likely, colours) if likely else Matches()
    names = sorted({name_of(thing) for thing in objects})
    vectors = embed([words, *names])
    nearness = dict(zip(names, (vectors[1:] @ vectors[0]).tolist(), strict=True))
    likely = [thing for thing in objects if nearness[name_of(thing)] >= NEARNESS]
    likely.sort(key=lambda thing: -nearness[name_of(thing)])
    found = _coloured(likely, colours)
    return Matches(found.objects, bool(found.objects), found.colour_missing)


def named_things(words: str) -> tuple[str, tuple[str, ...]]:
    """Return the part of words from the first to the last that names a category or a colour, "" if no category is
    named; and all other words in lower case, without fillers. Only the detector's own categories are known."""
    written = WORD.findall(words)
    tokens = [singular(word.casefold()) for word in written]
    taken: set[int] = set()
    single = {at for at, token in enumerate(tokens) if token == "individual"}
    for name in sorted(categories_named(tokens), key=lambda name: -len(name.split())):
        parts = name.split()
        for at in range(len(tokens) - len(parts) + 1):
            if tokens[at : at + len(parts)] == parts:
                taken |= set(range(at, at + len(parts)))
    if taken - single:
        # "Individual cars" are cars; only alone an individual is a person.
        taken -= single
    if not taken:
        return "", tuple(word.casefold() for word in written)
    taken |= {at for at, token in enumerate(tokens) if token in COLOURS}
    named = " ".join(written[min(taken) : max(taken) + 1])
    others = [word.casefold() for at, word in enumerate(written) if at not in taken and tokens[at] not in FILLERS]
    return named, tuple(others)


def names_alone(words: str, objects: Sequence[StoredObject]) -> bool:
    """Whether words are nothing but names of categories and colours, so that they describe no single object further."""
    tokens = name_tokens(words)
    text = f" {' '.join(tokens)} "
    there = (same_form(thing.category) for thing in objects)
    names = {*categories_named(tokens), *(name for name in there if f" {name} " in text)}
    parts = {part for name in names for part in name.split()}
    return bool(parts or colours_named(tokens)) and set(tokens) <= parts | COLOURS.keys() | FILLERS


def categories_there(objects: Sequence[StoredObject]) -> str:
    """Return the categories of the objects with their numbers, most first, as "person (6), chair (2)"."""
    counts = Counter(thing.category for thing in objects)
    return ", ".join(
        f"{word} ({count})" for word, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    )


def _coloured(objects: Sequence[StoredObject], colours: Sequence[str]) -> Matches:
    wanted = frozenset[str]().union(*(COLOURS[word] for word in colours))
    chosen = [thing for thing in objects if thing.colour in wanted]
    if colours and not chosen:
        return Matches(tuple(objects), colour_missing=" or ".join(colours) if objects else "")
    return Matches(tuple(chosen or objects))


def _named(tokens: Sequence[str], there: Collection[str]) -> set[str]:
    """Return the categories that the tokens name: those that are there, and known ones that are not."""
    text = f" {' '.join(tokens)} "
    known = frozenset[str]().union(*categories_named(tokens).values())
    return {*known, *(category for category in there if f" {same_form(category)} " in text)}


def name_of(thing: StoredObject) -> str:
    """Return an object in words, as "red car"."""
    return f"{thing.colour} {thing.category}".strip()
