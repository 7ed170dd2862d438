"""Words in quotation marks, which must be found exactly."""

from __future__ import annotations

import re

from gpu_workers.engine.retrieval.words import phrase_of

_PAIRS = (('"', '"'), ("“", "”"), ("„", "“"), ("„", "”"), ("«", "»"), ("»", "«"), ("「", "」"), ("『", "』"))
QUOTED = re.compile("|".join(f"{first}([^{first}{last}]*){last}" for first, last in _PAIRS))
"""A quotation with its marks."""

_MARKS = re.compile('["“”„«»「」『』]')


def quoted(text: str) -> tuple[str, tuple[str, ...]]:
    """Return text without its quotation marks, and the phrases that were between a pair of them, each once.

    A mark without a partner, and marks around something without a letter or digit, quote nothing. Apostrophes are no
    quotation marks.
    """
    phrases = ("".join(match.groups("")).strip() for match in QUOTED.finditer(text))
    exact = tuple(dict.fromkeys(phrase for phrase in phrases if phrase_of(phrase)))
    return " ".join(_MARKS.sub(" ", text).split()), exact
