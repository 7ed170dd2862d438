"""Where a text shows what was searched for: ranges of characters, never markup."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args
from uuid import UUID

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import Hit, StoredEvent
from gpu_workers.engine.retrieval.word_terms import AskedWords, asked_words, grams, languages_of
from gpu_workers.engine.retrieval.words import Token, phrase_of, plain, stem, tokens

HighlightKind = Literal["summary", "speech", "writing", "name", "title", "object"]
"""Kind of a text: an event's summary, a spoken line, writing on screen, and the names of things."""

HIGHLIGHT_KINDS: tuple[HighlightKind, ...] = get_args(HighlightKind)

MOST_HIGHLIGHTS, MOST_RANGES = 10, 50
"""Maximum numbers of texts of one event, and of ranges in one text."""

TEXT_CHARACTERS = 1_200
"""Maximum length of a text; a longer one is cut around its first match."""

CODE_TOKENS = 4
"""Maximum number of neighbouring words that are read as one code."""

CODE_SHARE = 0.6
"""Minimum share of a code's threes of characters that a run of words has."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """A text with the parts that match. ranges: (start, end) in characters (code points) of text, in order, disjoint.

    span: when the text is spoken or shown; None for the others. item: the thing that has the name; None for texts.
    """

    kind: HighlightKind
    text: str
    ranges: tuple[tuple[int, int], ...]
    span: Span | None = None
    item: UUID | None = None


class Highlighter:
    """Finds the words of one search in texts. exact: phrases that were searched for as they stand."""

    def __init__(self, text: str, exact: Sequence[str] = ()) -> None:
        asked = asked_words(text, exact)
        self._words = {term.term for term in asked.terms if not term.parts}
        self._codes = _codes(asked)
        self._phrases = [tuple(token.folded for token in tokens(phrase)) for phrase in exact if phrase_of(phrase)]

    def ranges(self, text: str) -> tuple[tuple[int, int], ...]:
        """Return the parts of text that match, in order, disjoint, at most MOST_RANGES."""
        found = tokens(text)
        marked = sorted({*self._of_words(found, languages_of(text)), *self._of_phrases(found), *self._of_codes(found)})
        merged: list[tuple[int, int]] = []
        for start, end in marked:
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        return tuple(merged[:MOST_RANGES])

    def event(self, event: StoredEvent, hits: Sequence[Hit] = ()) -> tuple[Highlight, ...]:
        """Return the texts of an event that match, and the names of the things that brought it, each text once.

        hits: those that found the event. Names come first, then writing, speech and the summary.
        """
        texts: dict[tuple[HighlightKind, str], Highlight] = {}

        def add(kind: HighlightKind, text: str, span: Span | None = None, item: UUID | None = None) -> None:
            if text and (kind, text) not in texts:
                shown = self._cut(text)
                if ranges := self.ranges(shown):
                    texts[kind, text] = Highlight(kind, shown, ranges, span, item)

        for hit in hits:
            if hit.view in ("name", "title", "object"):
                add(hit.view, hit.words, item=hit.item)  # type: ignore[arg-type]  # narrowed by the line above
            elif hit.view == "entity":
                add("name", hit.words, item=hit.item)
        for chunk in event.chunks:
            for written in chunk.on_screen_text:
                add("writing", written, chunk.span)
        for chunk in event.chunks:
            for line in chunk.transcript:
                add("speech", line.text, line.span)
        add("summary", event.summary)
        return tuple(texts.values())[:MOST_HIGHLIGHTS]

    def _of_words(self, found: Sequence[Token], languages: Sequence[str]) -> Iterator[tuple[int, int]]:
        for token in found:
            stems = (plain(word) for word in (token.folded, *(stem(token.folded, code) for code in languages)))
            if f"w{token.folded}" in self._words or any(f"s{bare}" in self._words for bare in stems):
                yield token.start, token.end
        for before, after in pairwise(found):
            # Two neighbouring characters of a script without spaces are one term.
            if before.dense and after.dense and f"s{before.folded}{after.folded}" in self._words:
                yield before.start, after.end

    def _of_phrases(self, found: Sequence[Token]) -> Iterator[tuple[int, int]]:
        folded = [token.folded for token in found]
        for phrase in self._phrases:
            for at in range(len(folded) - len(phrase) + 1):
                if tuple(folded[at : at + len(phrase)]) == phrase:
                    yield found[at].start, found[at + len(phrase) - 1].end

    def _of_codes(self, found: Sequence[Token]) -> Iterator[tuple[int, int]]:
        for code in self._codes:
            for at in range(len(found)):
                for length in range(1, min(CODE_TOKENS, len(found) - at) + 1):
                    run = found[at : at + length]
                    mine = set(grams(run, inner=False))
                    if len(mine & code) >= CODE_SHARE * len(mine | code):
                        yield run[0].start, run[-1].end

    def _cut(self, text: str) -> str:
        if len(text) <= TEXT_CHARACTERS:
            return text
        first = next(iter(self.ranges(text)), (0, 0))[0]
        start = max(0, min(first - TEXT_CHARACTERS // 4, len(text) - TEXT_CHARACTERS))
        return text[start : start + TEXT_CHARACTERS].strip()


def _codes(asked: AskedWords) -> list[frozenset[str]]:
    """Return for each code or name of the query the threes of its characters."""
    groups: defaultdict[int, set[str]] = defaultdict(set)
    for term in asked.terms:
        if term.parts and term.unless < 0:
            groups[term.group].add(term.term[1:])
    return [frozenset(group) for group in groups.values()]


def marked_parts(text: str, ranges: Sequence[tuple[int, int]]) -> list[tuple[str, bool]]:
    """Return text in parts, each with whether it matches, for a page that escapes them itself."""
    parts: list[tuple[str, bool]] = []
    at = 0
    for start, end in ranges:
        parts += [(text[at:start], False), (text[start:end], True)]
        at = end
    return [(part, match) for part, match in (*parts, (text[at:], False)) if part]
