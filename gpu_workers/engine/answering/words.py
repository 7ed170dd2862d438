"""What two texts share, in words: stems that carry meaning, numbers, and whether something is denied."""

from __future__ import annotations

import re

from gpu_workers.engine.languages import words as of_language
from gpu_workers.engine.languages.codes import is_english

_DENIALS = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot)\b|n['\u2019]t\b", re.IGNORECASE
)
"""English words that deny. No library lists them, and every list of stop words drops them."""


def plain(text: str) -> str:
    """Return text in lower case, without punctuation."""
    return " ".join(re.findall(r"\w+", text.lower()))


def content_words(text: str, language: str = "") -> frozenset[str]:
    """Return the words of text that carry meaning, as stems; numbers as digits. language: "" for English."""
    return frozenset(of_language.content_words(text, language))


def denies(text: str, language: str = "") -> bool:
    """Whether an English text denies something; False for another language."""
    return is_english(language) and _DENIALS.search(re.sub(r"\bnot only\b", " ", text, flags=re.IGNORECASE)) is not None
