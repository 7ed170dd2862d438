"""Which words of an English text carry its meaning, and which turn one answer into another."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """text in lower case, without punctuation."""
    return " ".join(re.findall(r"\w+", text.lower()))


def content_words(text: str) -> frozenset[str]:
    """The words of text that carry meaning, without inflection as far as an ending alone can tell."""
    words = (word for word in re.findall(r"\w+", text.lower()) if word not in _IDLE)
    return frozenset(_ENDING.sub("", word) if len(word) > 4 else word for word in words)


def decisive_words(text: str) -> frozenset[str]:
    """The words of text that make it another answer however similar the rest is: numbers, yes, negation (as "not"),
    directions, colours."""
    words = [_NUMBER_WORDS.get(word, word) for word in re.findall(r"\w+(?:'t)?", text.lower())]
    found = {word for word in words if word in _OPPOSITES or any(character.isdigit() for character in word)}
    if any(word in _NEGATIONS or word.endswith("n't") for word in words):
        found.add("not")
    return frozenset(found)


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENDING = re.compile(r"(ing|ed|es|s)$")
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_NUMBERS.split())}
_NEGATIONS = _set("no not never none nobody nothing neither nor without cannot")
_OPPOSITES = _set(
    "yes left right up down before after first last inside outside open closed opens closes enters leaves "
    "black white grey gray red green blue yellow orange brown pink purple male female man woman boy girl "
    "north south east west"
)
_IDLE = _set(
    "a an and are as at be been by do does did for from had has have in into is it its of on or that the their "
    "there they this to was were what when where which who will with yes no not"
)
