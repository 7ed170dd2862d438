"""Captions and chapters as WebVTT and SubRip, as a player shows them."""

from __future__ import annotations

import html
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

ROW_CHARACTERS = 42
"""Maximum characters of a row, and ROWS of a cue: what people can read in time (BBC and Netflix style guides)."""
ROWS = 2


@dataclass(frozen=True, slots=True)
class Cue:
    """A text and the time for which it is shown, in ms."""

    start_ms: int
    end_ms: int
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a transcript. words: (start_ms, end_ms, word), in order; none if only the line was timed."""

    start_ms: int
    end_ms: int
    text: str
    words: tuple[tuple[int, int, str], ...] = ()


def cues_of(lines: Iterable[Line]) -> Iterator[Cue]:
    """Yield the lines as cues of at most ROWS rows. All of the text is kept; only its spaces may become new rows."""
    for line in lines:
        text = " ".join(line.text.split())
        rows = textwrap.wrap(text, _row_width(text), break_on_hyphens=False)
        begin = 0
        for first in range(0, len(rows), ROWS):
            shown = rows[first : first + ROWS]
            start = text.index(shown[0], begin)
            begin = text.index(shown[-1], start + sum(map(len, shown[:-1]))) + len(shown[-1])
            start_ms, end_ms = _time_at(line, text, start), _time_at(line, text, begin)
            yield Cue(start_ms, max(end_ms, start_ms + 1), "\n".join(shown))


def within(cues: Iterable[Cue], start_ms: int | None, end_ms: int | None) -> Iterator[Cue]:
    """Yield the cues of a span, cut to it and counted from its start."""
    start, end = start_ms or 0, 2**62 if end_ms is None else end_ms
    for cue in cues:
        if cue.start_ms < end and cue.end_ms > start:
            yield replace(cue, start_ms=max(cue.start_ms, start) - start, end_ms=min(cue.end_ms, end) - start)


def as_vtt(cues: Iterable[Cue], *, language: str = "") -> str:
    """Return WebVTT (W3C). language: ISO 639-1, "" if it is not known or not one."""
    head = f"WEBVTT\nLanguage: {language}\n" if language else "WEBVTT\n"
    blocks = (f"\n{_clock(c.start_ms)} --> {_clock(c.end_ms)}\n{html.escape(c.text, quote=False)}\n" for c in cues)
    return head + "".join(blocks)


def as_srt(cues: Iterable[Cue]) -> str:
    """Return SubRip, with a comma before the milliseconds."""
    return "\n".join(
        f"{number}\n{_clock(cue.start_ms, ',')} --> {_clock(cue.end_ms, ',')}\n{cue.text}\n"
        for number, cue in enumerate(cues, start=1)
    )


def _row_width(text: str) -> int:
    """Return the characters of a row; those of Chinese, Japanese and Korean take twice the room."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return ROW_CHARACTERS // 2 if 2 * wide > len(text) else ROW_CHARACTERS


def _time_at(line: Line, text: str, position: int) -> int:
    """Return the time of a position in the text: from its words, or in proportion where they are unknown."""
    if position >= len(text):
        return line.end_ms
    passed = 0
    for start_ms, end_ms, word in _found(line.words, text):
        at = text.index(word, passed)
        if position <= at:
            return start_ms
        passed = at + len(word)
        if position <= passed:
            return end_ms
    share = position / len(text) if not line.words else 1.0
    return line.start_ms + round((line.end_ms - line.start_ms) * share)


def _found(words: Sequence[tuple[int, int, str]], text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the words that the text has, in order; a word that was written in another way is passed over."""
    passed = 0
    for start_ms, end_ms, word in words:
        spelled = word.strip()
        at = text.find(spelled, passed) if spelled else -1
        if at >= 0:
            passed = at + len(spelled)
            yield start_ms, end_ms, spelled


def _clock(ms: int, mark: str = ".") -> str:
    seconds, milliseconds = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}{mark}{milliseconds:03}"
