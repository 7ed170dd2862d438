"""Words that may name a time in a form that the rules do not know, so that a model reads the question."""

from __future__ import annotations

import re

from gpu_workers.engine.answering.reading.times.english import ENGLISH
from gpu_workers.engine.answering.reading.times.grammar import LEXICONS
from gpu_workers.engine.answering.reading.times.lexicon import tokens_of
from gpu_workers.engine.answering.reading.times.orders import DURING

_EVERY = frozenset({"every", "each", "jeden", "jede", "jedes", "cada"})
_RECORDINGS = frozenset(
    [
        *("video", "recording", "film", "movie", "clip", "footage", "tape", "stream"),
        *("aufnahme", "aufzeichnung", "grabación", "vídeo", "película"),
    ]
)
"""What "during" says nothing with: the whole of the scope."""


def hints_at_time(text: str, *, language: str = "") -> bool:
    """Whether text has words or figures of time although named_time() found none."""
    tokens = tokens_of(text, LEXICONS.get(language, ENGLISH))
    kinds = "".join(token.kind for token in tokens)
    for match in re.finditer(r"i(?=t?(x))|x(?=[pwJu])", kinds):
        word = text[tokens[match.start()].start : tokens[match.start()].end].lower()
        if (match[1] and word in DURING and tokens[match.start(1)].value not in _RECORDINGS) or word in _EVERY:
            return True
    return re.search(r"c|C|n-?u.{0,3}(?:B|E|V|>|<)|[aA][nw]K|w[pc]|y[pnc]|[no]O?m|m[no]|bt?[oQ]", kinds) is not None
