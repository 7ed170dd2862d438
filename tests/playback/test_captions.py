"""Captions of a transcript, read by an independent reader of WebVTT."""

from __future__ import annotations

from io import StringIO
from itertools import pairwise

import pytest
import webvtt
from hypothesis import given
from hypothesis import strategies as st

from backend.playback.captions import ROW_CHARACTERS, ROWS, Cue, Line, as_srt, as_vtt, cues_of, within

SPEECH = "And so my fellow Americans ask not what your country can do for you, ask what you can do for your country."


def timed(text: str, start_ms: int = 0, each_ms: int = 400) -> Line:
    words = [(start_ms + n * each_ms, start_ms + (n + 1) * each_ms, word) for n, word in enumerate(text.split())]
    return Line(start_ms, words[-1][1], text, tuple(words))


def test_a_long_line_is_cut_into_cues_that_begin_and_end_with_their_words() -> None:
    first, second = cues_of([timed(SPEECH)])

    assert first.text == "And so my fellow Americans ask not what\nyour country can do for you, ask what you"
    assert second.text == "can do for your country."
    # 17 words of 400 ms each.
    assert (first.start_ms, first.end_ms) == (0, 17 * 400)
    assert (second.start_ms, second.end_ms) == (17 * 400, 22 * 400)


def test_without_times_of_words_a_cue_has_its_share_of_the_line() -> None:
    first, second = cues_of([Line(10_000, 20_000, "x" * 42 + " " + "y" * 42 + " " + "z" * 42)])
    assert (first.start_ms, first.end_ms) == (10_000, 10_000 + round(10_000 * 85 / 128))
    assert (second.start_ms, second.end_ms) == (10_000 + round(10_000 * 86 / 128), 20_000)


def test_chinese_has_half_the_characters_in_a_row() -> None:
    cues = list(cues_of([Line(0, 10_000, "我" * 50)]))
    assert [cue.text for cue in cues] == ["我" * 21 + "\n" + "我" * 21, "我" * 8]


def test_a_span_counts_from_its_start_and_cuts_what_reaches_over_it() -> None:
    cues = [Cue(0, 1_000, "a"), Cue(900, 2_000, "b"), Cue(2_500, 4_000, "c"), Cue(5_000, 6_000, "d")]
    assert list(within(cues, 1_000, 3_000)) == [Cue(0, 1_000, "b"), Cue(1_500, 2_000, "c")]


def test_marks_of_the_format_in_a_text_stay_text() -> None:
    (read,) = webvtt.from_buffer(StringIO(as_vtt([Cue(0, 1_000, "<b>5 --> 6</b> & more")], language="en")))
    assert read.raw_text == "&lt;b&gt;5 --&gt; 6&lt;/b&gt; &amp; more"


@pytest.mark.parametrize(
    ("write", "read"), [(as_vtt, webvtt.from_buffer), (as_srt, lambda b: webvtt.from_buffer(b, "srt"))]
)
def test_both_formats_are_read_back(write, read) -> None:  # type: ignore[no-untyped-def]
    cues = [Cue(0, 1_500, "one\ntwo"), Cue(3_600_000, 3_661_007, "three")]
    found = [(c.start_in_seconds * 1000 + c.start_time.milliseconds, c.text) for c in read(StringIO(write(cues)))]
    assert found == [(0, "one\ntwo"), (3_600_000, "three")]


@given(st.text(max_size=300), st.integers(0, 10**7), st.integers(1, 10**5), st.booleans())
def test_the_text_of_all_cues_is_the_line(text: str, start_ms: int, length_ms: int, with_words: bool) -> None:
    spoken = text.split()
    share = max(1, length_ms // max(1, len(spoken)))
    words = tuple((start_ms + n * share, start_ms + (n + 1) * share, word) for n, word in enumerate(spoken))
    cues = list(cues_of([Line(start_ms, start_ms + length_ms, text, words if with_words else ())]))

    assert "".join("".join(cue.text.split()) for cue in cues) == "".join(spoken)
    assert all(len(row) <= ROW_CHARACTERS for cue in cues for row in cue.text.split("\n"))
    assert all(len(cue.text.split("\n")) <= ROWS and cue.start_ms < cue.end_ms for cue in cues)
    assert all(before.start_ms <= after.start_ms for before, after in pairwise(cues))
