"""Which tracked objects a few words mean: by the detector's categories, by colours, and by nearness in meaning.

The appearance of an object is a histogram of colours and features of a classifier, which no text can be compared with.
So a text is compared with the words "colour category".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ports import StoredObject
from gpu_workers.engine.retrieval.object_names import (
    COLOURS,
    FILLERS,
    WORD,
    categories_named,
    name_tokens,
    same_form,
    singular,
)

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
    names = sorted({_name(thing) for thing in objects})
    vectors = embed([words, *names])
    nearness = dict(zip(names, (vectors[1:] @ vectors[0]).tolist(), strict=True))
    likely = [thing for thing in objects if nearness[_name(thing)] >= NEARNESS]
    likely.sort(key=lambda thing: -nearness[_name(thing)])
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


def _name(thing: StoredObject) -> str:
    return f"{thing.colour} {thing.category}".strip()
