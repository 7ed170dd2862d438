"""The sentences of routes: each language says all of them, with the same values in their places."""

from __future__ import annotations

from string import Formatter

import pytest

from gpu_workers.engine.answering.routes.phrases import Phrases, phrase_tables
from gpu_workers.engine.languages.codes import CODES, ENGLISH

ENGLISH_PHRASES = phrase_tables()[ENGLISH]


def places(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


@pytest.mark.parametrize("language", phrase_tables())
def test_a_language_has_every_sentence_with_its_places(language: str) -> None:
    table = phrase_tables()[language]
    assert language in CODES
    assert {name: places(table[name]) for name in table} == {
        name: places(sentence) for name, sentence in ENGLISH_PHRASES.items()
    }


def test_moments_are_named_once_and_the_last_ones_are_counted() -> None:
    phrases = Phrases(ENGLISH_PHRASES)
    assert phrases.times("about", 5, ["0:01", "0:01", "0:02"]) == "about 5 times: 0:01, 0:02"
    assert phrases.times("exactly", 1) == "exactly 1 time"
    assert phrases.listed(["a", "b", "c", "d"], 2) == "a, b, and 2 more"
