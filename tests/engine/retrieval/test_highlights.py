"""Highlights: plain text with ranges, and quotation marks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_workers.engine.ekg import Chunk, Span, TranscriptLine, stable_id
from gpu_workers.engine.ports import Hit, StoredEvent
from gpu_workers.engine.retrieval.highlights import MOST_RANGES, TEXT_CHARACTERS, Highlighter, marked_parts
from gpu_workers.engine.retrieval.words import quoted

CAR = stable_id("object", 1)


def marked(query: str, text: str) -> list[str]:
    words, exact = quoted(query)
    return [text[start:end] for start, end in Highlighter(words, exact).ranges(text)]


@pytest.mark.parametrize(
    ("query", "text", "parts"),
    [
        ("red car parking", "A red Car parks; cars. Carla stays.", ["red", "Car", "parks", "cars"]),
        ("plate BAX1234", "The plate reads B-AX 1234.", ["plate", "B-AX 1234"]),
        ("\u7ea2\u8272\u6c7d\u8f66", "\u4e00\u8f86\u7ea2\u8272\u6c7d\u8f66\u505c", ["\u7ea2\u8272\u6c7d\u8f66"]),
        ('"walk in"', "They walk in. In the walk", ["walk in", "In", "walk"]),
        ("caf\u00e9", "Cafe\u0301 and CAFE", ["Cafe\u0301", "CAFE"]),
        ("x", "\U0001f600 x", ["x"]),
        ("the of", "nothing here", []),
        ("%", "100% &|!", []),
        ("", "words", []),
    ],
)
def test_what_matches_is_marked_by_characters(query: str, text: str, parts: list[str]) -> None:
    assert marked(query, text) == parts


@given(st.text(max_size=60), st.text(max_size=300))
def test_ranges_are_in_order_inside_the_text_and_the_parts_are_the_text(query: str, text: str) -> None:
    words, exact = quoted(query)
    ranges = Highlighter(words, exact).ranges(text)

    assert all(0 <= start < end <= len(text) for start, end in ranges)
    assert all(end < start for (_, end), (start, _) in pairwise(ranges))
    assert "".join(part for part, _ in marked_parts(text, ranges)) == text
    assert [part for part, match in marked_parts(text, ranges) if match] == [text[a:b] for a, b in ranges]


def test_ranges_and_texts_are_bounded() -> None:
    assert len(Highlighter("dog").ranges("dog " * 500)) == MOST_RANGES
    event = StoredEvent(stable_id("event", 1), stable_id("video", 1), 0, Span(0, 9), f"{'no ' * 900}dog {'no ' * 900}")
    (shown,) = Highlighter("dog").event(event)
    assert len(shown.text) <= TEXT_CHARACTERS
    assert [shown.text[start:end] for start, end in shown.ranges] == ["dog"]


def test_an_event_shows_names_then_writing_then_speech_then_its_summary() -> None:
    line = TranscriptLine(Span(500, 900), "the van is red")
    chunk = Chunk(0, Span(0, 3_000), "seen", on_screen_text=("VAN HIRE", "Exit"), transcript=(line,))
    event = StoredEvent(stable_id("event", 1), stable_id("video", 1), 0, Span(0, 3_000), "A van parks.", (chunk, chunk))
    hits = [
        Hit(event.id, 1.0, "object", CAR, "red truck"),
        Hit(event.id, 0.5, "name", None, "delivery van"),
        Hit(event.id, 0.4, "event", event.id),
        Hit(event.id, 0.4, "title", None, "nothing of it"),
    ]

    found = Highlighter("red van").event(event, hits)

    assert [(shown.kind, shown.text, shown.span, shown.item) for shown in found] == [
        ("object", "red truck", None, CAR),
        ("name", "delivery van", None, None),
        ("writing", "VAN HIRE", chunk.span, None),
        ("speech", "the van is red", line.span, None),
        ("summary", "A van parks.", None, None),
    ]


@pytest.mark.parametrize(
    ("text", "words", "exact"),
    [
        ('who said "good morning"', "who said good morning", ("good morning",)),
        ("\u201eHerr M\u00fcller\u201c \u00abau revoir\u00bb \u300c\u8eca\u300d", "Herr M\u00fcller au revoir \u8eca",
         ("Herr M\u00fcller", "au revoir", "\u8eca")),
        ('"a" "a" b', "a a b", ("a",)),
        ('half "open', "half open", ()),
        ('"%" ""', "%", ()),
        ("it's 'fine'", "it's 'fine'", ()),
    ],
)  # fmt: skip
def test_words_in_quotation_marks_are_exact(text: str, words: str, exact: tuple[str, ...]) -> None:
    assert quoted(text) == (words, exact)
