"""Exact words in speech: where a word or a phrase is said, inside the stretch that may be read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import StoredLine

PHRASE_GAP_MS = 1_000
"""Maximum pause between two lines that a phrase runs over."""

_WORD = re.compile(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A word of a line. span: its own times, or its line's if the transcriber did not time it as one word."""

    word: str
    span: Span
    line: StoredLine


@dataclass(frozen=True, slots=True)
class Place:
    """Where a term is said. line: the one in which it begins."""

    line: StoredLine
    span: Span


def words_of(text: str) -> list[str]:
    """Return the words of a text in one form: case, accents' encoding and punctuation do not count, and a hyphen
    separates words."""
    return [word.replace("’", "'") for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold())]


def places_of(
    term: str,
    lines: Sequence[StoredLine],
    extents: Mapping[UUID, Span],
    *,
    interrupted: Callable[[StoredLine, StoredLine], bool],
) -> list[Place]:
    """Return where the words of term are said one after the other, in order of video and time; places do not overlap.

    lines: at least those that contain one of the words, in order of video and time. A phrase may run over lines that
    are PHRASE_GAP_MS apart, if no other line is spoken between them. interrupted: whether one is, although it has none
    of the words; called only where the words of a phrase stand on both sides. extents: what may be read of each video.
    A line that reaches beyond it counts by the times of its words, and without these as a whole if it begins inside.
    """
    wanted = words_of(term)
    if not wanted:
        return []
    places: list[Place] = []
    for stretch in _stretches(lines):
        spoken = [word for line in stretch for word in _readable(line, extents)]
        at = 0
        while at + len(wanted) <= len(spoken):
            said = spoken[at : at + len(wanted)]
            if [word.word for word in said] == wanted and not any(
                before.line is not after.line and interrupted(before.line, after.line)
                for before, after in pairwise(said)
            ):
                places.append(Place(said[0].line, Span(said[0].span.start_ms, max(word.span.end_ms for word in said))))
                at += len(wanted)
            else:
                at += 1
    return places


def _stretches(lines: Sequence[StoredLine]) -> Iterator[list[StoredLine]]:
    """Yield the lines in groups that follow each other closely."""
    group: list[StoredLine] = list(lines[:1])
    for before, after in pairwise(lines):
        apart = after.span.start_ms - before.span.end_ms
        if before.video_id != after.video_id or apart > PHRASE_GAP_MS:
            yield group
            group = []
        group.append(after)
    if group:
        yield group


def _readable(line: StoredLine, extents: Mapping[UUID, Span]) -> Iterator[_Spoken]:
    """Yield the words of the line that begin inside the readable stretch."""
    extent = extents.get(line.video_id)
    if extent is None:
        return
    timed = [
        _Spoken(word, Span(start_ms, max(end_ms, start_ms + 1)), line)
        for start_ms, end_ms, text in line.words
        for word in words_of(text)
    ]
    words = words_of(line.text)
    if [spoken.word for spoken in timed] == words:
        yield from (spoken for spoken in timed if extent.contains(spoken.span.start_ms))
    elif extent.holds(line.span) or not timed:
        yield from (_Spoken(word, line.span, line) for word in words if extent.contains(line.span.start_ms))
    else:
        yield from (spoken for spoken in timed if extent.contains(spoken.span.start_ms))
