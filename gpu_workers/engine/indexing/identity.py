"""What says who or what an entity is: its lasting looks and its name, not its part in one event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gpu_workers.engine.ekg import EntityMention
from gpu_workers.engine.languages.codes import ENGLISH
from gpu_workers.engine.languages.words import idle_words
from gpu_workers.engine.retrieval.object_names import COLOURS
from gpu_workers.engine.retrieval.words import Token, plain, stem, tokens

PART_WORDS = 2
"""Minimum number of a role's words in a row that are its part in the event, and not by chance its looks."""

_NO_PART = "participant"
"""Role of a mention whose part nobody stated."""


def identity_text(mention: EntityMention) -> str:
    """Return the text that is embedded for a mention: name and looks, since either alone is too little.

    Models also write into them what the entity does in the event, which they were to write into its role alone. Those
    words of the role are left out, so that an entity is the same when it does something else. A mention that is nothing
    but its part keeps its words.
    """
    part = frozenset(_content(tokens(mention.role))) if mention.role != _NO_PART else frozenset()
    name = without_part(mention.name, part) or mention.name
    looks = without_part(mention.description, part)
    return f"{name}: {looks}" if looks else name


def without_part(text: str, part: frozenset[str]) -> str:
    """Return text without the stretches that hold PART_WORDS or more of part, a role's words without endings.

    Words without a meaning of their own belong to the stretch that they lead into. A stretch with a colour is looks.
    """
    if len(part) < PART_WORDS:
        return text
    kept, at = [], 0
    for run in _runs(tokens(text), part):
        words = set(_content(run))
        if len(words & part) >= PART_WORDS and not any(token.folded in COLOURS for token in run):
            kept.append(text[at : run[0].start])
            at = run[-1].end
    return " ".join("".join((*kept, text[at:])).split()).strip(" ,;.") if at else text


def marks(names: Iterable[str]) -> frozenset[str]:
    """Return what names one thing alone: codes, such as plates and numbers of at least three characters, and names of
    several words that all begin with a capital. In lower case."""
    found: set[str] = set()
    for name in names:
        words = tokens(name)
        found |= {token.folded for token in words if len(token.folded) > 2 and any(map(str.isdigit, token.folded))}
        if len(words) > 1 and all(token.written[:1].isupper() for token in words):
            found.add(" ".join(token.folded for token in words))
    return frozenset(found)


def share_mark(ours: Iterable[str], theirs: Iterable[str]) -> bool:
    """Whether one mark is another one or a part of it: a plate is read with and without its spaces."""
    others = list(theirs)
    return any(mine in other or other in mine for mine in ours for other in others)


def _runs(found: Sequence[Token], part: frozenset[str]) -> Iterator[list[Token]]:
    """Yield the longest stretches of words of part, and of words without a meaning of their own between them."""
    run: list[Token] = []
    for token in (*found, None):
        if token is not None and (token.folded in idle_words(ENGLISH) or _bare(token) in part):
            run.append(token)
            continue
        # Words without meaning after the last word of the part belong to what follows.
        while run and run[-1].folded in idle_words(ENGLISH):
            run.pop()
        if run:
            yield run
        run = []


def _content(found: Iterable[Token]) -> Iterator[str]:
    return (_bare(token) for token in found if token.folded not in idle_words(ENGLISH))


def _bare(token: Token) -> str:
    # Descriptions are written in English, whatever is spoken.
    return plain(stem(token.folded, ENGLISH))
