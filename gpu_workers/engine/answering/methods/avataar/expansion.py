"""A question with the descriptions of those whom it names (AVATAAR, function expand_query)."""

from __future__ import annotations

import re
from collections.abc import Mapping

MOST = 3
"""Maximum number of names of a question that are described."""


def expand(question: str, descriptions: Mapping[str, str]) -> str:
    """Return question with a description in brackets behind the first mention of each name, longest names first.

    descriptions: by name, as data. A name is a whole word, in any case; a name inside another is not described again.

    >>> expand("Where is Yogi?", {"Yogi": "the bear in a green hat"})
    'Where is Yogi (the bear in a green hat)?'
    """
    taken: list[tuple[int, int]] = []
    added: list[tuple[int, str]] = []
    for name in sorted(descriptions, key=lambda name: (-len(name), name)):
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE):
            start, end = match.span()
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            taken.append((start, end))
            if descriptions[name] not in question:
                added.append((end, f" ({descriptions[name]})"))
            break
    expanded = question
    for position, words in sorted(sorted(added)[:MOST], reverse=True):
        expanded = expanded[:position] + words + expanded[position:]
    return expanded
