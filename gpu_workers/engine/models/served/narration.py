"""The shared part of both narrators: the length of their texts, and the names that the material holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from gpu_workers.engine.ekg import EventDigest, Topic

TITLE_CHARS, TEXT_CHARS = 120, 2_000
NOT_DESCRIBED = "Not described"
"""Title of a topic without any described event."""
MOST_NAMES = 12
"""Maximum number of names of people, and of places, that one text lists."""
PEOPLE, PLACE = frozenset({"person", "group"}), "place"
"""Types of actors that are people, and the type that is a place."""
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[^\W_]+")
_WITHIN = re.compile(r"(?<=[\w,;)'’])\s+([A-Z][a-z]\w*)")


class Material:
    """The words of the material of a text. They decide whether a name in the text was invented."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._words = _in_words(" ".join(texts))

    def holds(self, name: str) -> bool:
        words = _in_words(name)
        return bool(words.strip()) and words in self._words

    def kept(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names that the material holds, each once, at most MOST_NAMES."""
        distinct: dict[str, str] = {}
        for name in filter(self.holds, names):
            distinct.setdefault(name.casefold(), name)
        return tuple(distinct.values())[:MOST_NAMES]

    def without_strangers(self, text: str) -> str:
        """Return text without the sentences that use a proper name from elsewhere."""
        return " ".join(sentence for sentence in SENTENCE_END.split(text) if self.holds_names_of(sentence))

    def holds_names_of(self, text: str) -> bool:
        """Whether the material holds every proper name of text (a capitalised word inside a sentence)."""
        return all(self.holds(name) for name in _WITHIN.findall(text))


def _in_words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def material_of_events(events: Sequence[EventDigest]) -> Material:
    names = ((actor.name for actor in event.actors) for event in events)
    return Material(
        text for event, actors in zip(events, names, strict=True) for text in (event.summary, *event.speech, *actors)
    )


def material_of_topics(topics: Sequence[Topic]) -> Material:
    return Material(text for t in topics for text in (t.title, t.summary, *t.people, *t.places))


def names_by_time(topics: Sequence[Topic]) -> tuple[list[str], list[str]]:
    """Return the people and the places of the topics, each by the length of the topics that name it, longest first;
    ties in order of appearance."""
    people, places = Counter[str](), Counter[str]()
    for topic in topics:
        for names, lasted in ((topic.people, people), (topic.places, places)):
            for name in names:
                lasted[name] += topic.span.duration_ms
    return [name for name, _ in people.most_common()], [name for name, _ in places.most_common()]
