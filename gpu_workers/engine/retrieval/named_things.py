"""Whether the words of a search name a thing: an entity by name or alias, a topic by title, an object by what it is.

One definition for every store. A store finds candidates by CANDIDATES and parts; the shares decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.ports import Hit, NamedView
from gpu_workers.engine.retrieval.in_scope import folded, searchable
from gpu_workers.engine.retrieval.object_names import (
    FILLERS,
    categories_named,
    colours_named,
    name_tokens,
    same_form,
)

CANDIDATES = 2_000
"""Maximum number of things of a kind that are compared with the words of one search."""

LEAST_SHARE = 0.2
"""Minimum share of a thing that counts as named: one word of five."""

MOST_WORDS = 64
"""Maximum number of distinct words of a search that can name something."""

_IDLE = FILLERS | frozenset(
    {"and", "are", "at", "by", "did", "do", "for", "from", "how", "it", "on", "or", "that", "this", "to", "wa", "what"}
    | {"when", "where", "which", "who", "with"}
)
"""Words that name nothing, as name_tokens() writes them."""

# Han, kana and Hangul have no spaces: each character is a word of its own.
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class NamingWords:
    """The words of a search. tokens: in order. content: those that can name something."""

    tokens: tuple[str, ...]
    content: frozenset[str]

    @classmethod
    def of(cls, text: str) -> NamingWords:
        """Return the words of a text, of which at most MOST_WORDS can name something."""
        tokens = tuple(_tokens(text))
        content = dict.fromkeys(token for token in tokens if token not in _IDLE)
        return cls(tokens, frozenset(list(content)[:MOST_WORDS]))

    @property
    def parts(self) -> list[str]:
        """Return texts one of which a name contains, in upper or lower case, if it shares a word with the search.

        A noun in the plural contains its singular, but for a few endings; these have their first letters.
        """
        return searchable(sorted(word[:-1] if word.endswith("y") and len(word) > 3 else word for word in self.content))

    @property
    def categories(self) -> frozenset[str]:
        """Return the detector's known categories that the words name."""
        return frozenset[str]().union(*categories_named(self.tokens).values())

    @property
    def text(self) -> str:
        """Return the words with spaces around each, in which a category is looked for."""
        return f" {' '.join(self.tokens)} "

    def share_of_name(self, names: Iterable[str]) -> tuple[float, str]:
        """Return the best name, with the share of its and the search's words that both have; 0.0 and "" if none fits.

        A name fits if the search has all its words, or if it has all words of the search.
        """
        best = (0.0, "")
        for name in names:
            words = set(_tokens(name))
            words = words - _IDLE or words
            if words and self.content and (words <= set(self.tokens) or self.content <= words):
                share = len(words & self.content) / len(words | self.content)
                if share >= LEAST_SHARE and share > best[0]:
                    best = (share, name)
        return best

    def share_of_object(self, category: str, colour: str) -> float:
        """Return the share of the search's words that name the object by its category and its colour.

        0.0 if they name no category of it, unless they are nothing but its colour; and if they are a category and a
        colour that it has not.
        """
        known = categories_named(self.tokens)
        named = {token for name, categories in known.items() if category in categories for token in name.split()}
        if f" {same_form(category)} " in self.text:
            named |= set(name_tokens(category))
        colours = colours_named(self.tokens)
        mine = {word for word, shades in colours.items() if colour in shades}
        others = set(colours) - mine
        if not named and not (mine and self.content <= mine):
            return 0.0
        if colour and others and not mine and self.content <= named | others:
            return 0.0
        share = len((named | mine) & self.content) / max(1, len(self.content))
        return share if share >= LEAST_SHARE else 0.0


@dataclass(frozen=True, slots=True)
class NamedThing:
    """A thing that a search names. words: the name that matched. order: its rank among things of the same share.
    event_ids: of its events in scope, in order of video and time."""

    id: UUID
    share: float
    words: str
    order: tuple[int | UUID, ...]
    event_ids: tuple[UUID, ...]


def named_hits(found: Mapping[NamedView, Iterable[NamedThing]], limit: int) -> dict[NamedView, list[Hit]]:
    """Return the hits of the best things by view, at most limit things each. Things without an event are left out."""
    hits: dict[NamedView, list[Hit]] = {}
    for view, things in found.items():
        best = sorted((thing for thing in things if thing.event_ids), key=lambda thing: (-thing.share, thing.order))
        hits[view] = [
            Hit(event_id, thing.share, view, thing.id, thing.words)
            for thing in best[: max(0, limit)]
            for event_id in thing.event_ids
        ]
    return hits


def object_name(category: str, colour: str) -> str:
    """Return an object in words, as "red car"."""
    return f"{colour} {category}".strip()


def _tokens(text: str) -> list[str]:
    return name_tokens(_DENSE.sub(lambda character: f" {character.group()} ", folded(text)))
