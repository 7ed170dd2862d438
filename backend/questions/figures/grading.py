"""Grades that need no model: by the chosen choice, or by the exact words."""

from __future__ import annotations

import re
import unicodedata

ARTICLES = frozenset({"a", "an", "the"})

_NEGATIVE = re.compile(r"(?<!\w)[-\u2212\u2013](?=\d)")
_INSIDE_NUMBER = re.compile(r"(?<=\d)[.,:](?=\d)")


def folded(text: str) -> str:
    """Return text without differences of case, articles, punctuation, width and spacing.

    Punctuation of any script separates words, but apostrophes join them. A minus before a number and the signs within a
    number stay, because "-5" is not "5" and "3.5" is not "35". Text of articles alone keeps them.
    """
    text = _NEGATIVE.sub(" minus ", unicodedata.normalize("NFKC", text).casefold())
    text = re.sub("['\u2019\u02bc]", "", text)
    kept = {sign.start() for sign in _INSIDE_NUMBER.finditer(text)}
    text = "".join(
        " " if unicodedata.category(letter).startswith("P") and at not in kept else letter
        for at, letter in enumerate(text)
    )
    words = text.split()
    return " ".join([word for word in words if word not in ARTICLES] or words)


def same_words(given: str, truth: str) -> bool:
    """Whether two texts say the same after folding; texts without a word never do."""
    return bool(folded(given)) and folded(given) == folded(truth)


def same_choice(given: int | None, truth: int) -> bool:
    """Whether the chosen choice, counted from 0, is the true one."""
    return given == truth
