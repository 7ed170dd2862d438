"""The words that name tracked objects: the detector's categories, other words for them, and colours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gpu_workers.engine.models.observer.categories import ANIMALS, BALLS, VEHICLES

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
