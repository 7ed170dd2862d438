"""The words of a text in any language: without stop words, as stems, numbers as digits. Lists and stems are libraries'.

English has Snowball's list of stop words (english.stop, as PostgreSQL ships it): longer lists hold "man", "open" and
"full", which distinguish one happening from another. Text in a script without spaces between words (Chinese, Japanese,
Thai) is cut into pairs of characters.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gpu_workers.engine.languages.codes import ENGLISH, LANGUAGES

NUMBERED = ("da", "de", "en", "es", "fr", "it", "nl", "pt")
"""Languages whose number words are read (text2num)."""

LEAST_NUMBER = 2
"""Smallest number that is read from a word that stands alone: one is an article in most languages ("ein Mann")."""

_stemming = threading.Lock()
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
"""Letters of the scripts without spaces: Thai, Lao, Burmese, Khmer, kana, Han."""
# A combining mark (of Arabic, Hindi, Thai) belongs to its word, though \w leaves some out.
_CONTRACTED = re.compile(r"n?['\u2019](?:t|s|re|ve|ll|d|m)\b")
"""Contracted words of English: of doesn't, it's, they're, I've, he'll, she'd, I'm."""

_DENIALS = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot)\b|n['\u2019]t\b", re.IGNORECASE
)
"""English words that deny. No library lists them, and every list of stop words drops them."""
_NOT_ONLY = re.compile(r"\bnot only\b", re.IGNORECASE)

_WORD = re.compile(r"[^\W_](?:[\w\u0300-\u036f\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0e31-\u0e4e])*")


def words_of(text: str) -> list[str]:
    """Return the words of text in lower case, in order; of a script without spaces, each pair of neighbours."""
    words: list[str] = []
    for word in _WORD.findall(text.casefold()):
        position = 0
        for run in _UNSPACED.finditer(word):
            words += [word[position : run.start()], *_pairs(run.group())]
            position = run.end()
        words.append(word[position:])
    return [word for word in words if word]


def plain(text: str) -> str:
    """Return text in lower case, without punctuation."""
    return " ".join(re.findall(r"\w+", text.lower()))


def denies(text: str, language: str = "") -> bool:
    """Whether an English text denies something; False for another language."""
    return language in ("", ENGLISH) and _DENIALS.search(_NOT_ONLY.sub(" ", text)) is not None


def content_words(text: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the words of text that carry meaning, as stems; number words as digits where they are read.

    language: ISO 639-1 code, "" for English; of a language without lists all words are kept as they are.
    """
    return frozenset(stemmed(content_forms(text, language), language or ENGLISH))


def content_forms(text: str, language: str = ENGLISH) -> list[str]:
    """Return the words of content_words() in lower case, in order, as the text writes them."""
    idle = idle_words(language or ENGLISH)
    return [word for word in all_words(text, language) if word not in idle]


def all_words(text: str, language: str = ENGLISH) -> list[str]:
    """Return all words of text in lower case, in order; number words as digits where they are read."""
    language = language or ENGLISH
    if language == ENGLISH:
        text = _CONTRACTED.sub(" ", text)
    return words_of(with_digits(text, language))


def numbers_of(text: str, language: str, *, least: int = LEAST_NUMBER) -> frozenset[str]:
    """Return the whole numbers of text as digits, without leading zeros; of any script. least: see with_digits()."""
    return frozenset(str(int(digits)) for digits in re.findall(r"\d{1,18}", with_digits(text, language, least=least)))


def with_digits(text: str, language: str, *, least: int = LEAST_NUMBER) -> str:
    """Return text with its number words as digits, if they are read in this language ("" for English).

    least: smallest number that is read from a word that stands alone.
    """
    language = language or ENGLISH
    if language not in NUMBERED:
        return text
    from text_to_num import alpha2digit

    written: str = alpha2digit(text, language, threshold=least)
    return written


@cache
def idle_words(language: str) -> frozenset[str]:
    """Return the words that content_words() leaves out; none for a language without a list."""
    if language == ENGLISH:
        return frozenset(Path(__file__).with_name("english.stop").read_text(encoding="ascii").split())
    return stop_words(language)


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the words of a language that carry little meaning of their own; none for a language without a list."""
    import stopwordsiso

    if language not in LANGUAGES or not stopwordsiso.has_lang(language):
        return frozenset()
    return frozenset(word.casefold() for word in stopwordsiso.stopwords(language) if not word.isdigit())


def stemmed(words: Sequence[str], language: str) -> list[str]:
    """Return the stems of words in lower case by their language's Snowball stemmer; the words themselves without one.

    Safe between threads: a stemmer holds the word that it works on.
    """
    with _stemming:
        stemmer = _stemmer(language)
        return list(stemmer.stemWords(words)) if stemmer is not None else list(words)


@cache
def _stemmer(language: str) -> Any:
    import snowballstemmer

    grammar = LANGUAGES[language].grammar if language in LANGUAGES else ""
    return snowballstemmer.stemmer(grammar) if grammar in snowballstemmer.algorithms() else None


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[index : index + 2] for index in range(len(run) - 1)]
