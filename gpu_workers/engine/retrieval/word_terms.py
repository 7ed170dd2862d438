"""Terms of an event and of a query: what the view of words compares.

An event has the terms of its summary, its speech and the writing on screen. A term is a word as it stands ("w"), a word
without ending and accents ("s"), two neighbouring characters of a script without spaces ("s"), or three characters of a
code or name without its separators ("g"), so that a plate is found across spaces, hyphens and one misread letter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from gpu_workers.engine.languages.codes import ENGLISH
from gpu_workers.engine.languages.detection import language_of
from gpu_workers.engine.languages.words import idle_words
from gpu_workers.engine.retrieval.words import TOKEN_CHARACTERS, Token, phrase_of, plain, stem, tokens

MAX_IMPACT = 255
"""Impact that a term approaches on an event that is full of it."""

SATURATION, BY_LENGTH, USUAL_WORDS = 1.2, 0.5, 40
"""k1, b and the mean length of BM25 (Robertson and Zaragoza 2009). The mean is fixed, so that an impact never changes
after it is stored."""

MAX_WORDS, MAX_CODES, MAX_GRAMS, MAX_EXACT = 48, 8, 24, 8
"""Maximum numbers of words, codes, terms of a code, and exact phrases of a query. What is beyond is not searched."""

GROUP_WEIGHT, STEM_WEIGHT, MISSPELT_WEIGHT = 1_000, 900, 500
"""Weights in a query: of a word or code, of a word's stem, and of the spelling of a word that nothing contains."""

LEAST_NAME = 4
"""Minimum number of characters of a word that is also searched by its spelling."""

# Characters that readers of writing confuse count as one.
_CONFUSED = str.maketrans("oqilszbg", "00115286")
_JOINT = re.compile(r"[-./_:·|\\]*| ")
_PLAIN_WORD = re.compile(r"[a-z0-9]+")
_SENTENCE_END = re.compile(r"[.!?:;]\s+$")


@dataclass(frozen=True, slots=True)
class EventWords:
    """Searchable texts of an event: its summary, the writings on screen and the spoken lines, in order of time."""

    summary: str
    written: Sequence[str] = ()
    spoken: Sequence[str] = ()

    @property
    def pieces(self) -> list[str]:
        """Return the texts, each once, the writing first: it is the shortest and the most exact."""
        return list(dict.fromkeys([*self.written, *self.spoken, self.summary]))


@dataclass(frozen=True, slots=True)
class AskedTerm:
    """A term of a query. group: number of the word or code that it stands for; an event is credited once per group.

    parts: 0 if each term of the group is a match by itself; else the number of the group's terms, of which an event
    must have at least two in five. unless: a group; this term counts only if no event in scope has it. -1 for none.
    """

    term: str
    group: int
    weight: int = GROUP_WEIGHT
    parts: int = 0
    unless: int = -1


@dataclass(frozen=True, slots=True)
class AskedWords:
    """A query to the view of words. exact: phrases in canonical form, all of which an event must contain. required:
    those of the terms that every such event has, whatever its language. languages: of the query, English among them."""

    terms: tuple[AskedTerm, ...]
    exact: tuple[str, ...] = ()
    required: frozenset[str] = frozenset()
    languages: tuple[str, ...] = (ENGLISH,)

    @property
    def literal(self) -> bool:
        """Whether the query names something that is found by its letters: a quotation, a code, a number or a name."""
        return bool(self.exact) or any(term.parts and term.unless < 0 for term in self.terms)


def event_terms(words: EventWords) -> dict[str, int]:
    """Return the terms of an event with their impacts, 1 to MAX_IMPACT."""
    counts: Counter[str] = Counter()
    spellings: set[str] = set()
    written = set(words.written)
    length = 0
    for piece in words.pieces:
        found = tokens(piece)
        length += len(found)
        languages = languages_of(piece)
        counts.update(term for token in found for term in _word_terms(token, languages))
        counts.update(_pairs(found))
        runs = [found] if piece in written else [*_codes(piece, found), *_names(piece, found)]
        spellings.update(gram for run in runs for gram in grams(run, inner=True))
    counts.update(f"g{gram}" for gram in spellings)
    norm = SATURATION * (1 - BY_LENGTH + BY_LENGTH * length / USUAL_WORDS)
    return {term: max(1, int(MAX_IMPACT * count / (count + norm))) for term, count in counts.items()}


def word_terms(text: str, languages: tuple[str, ...]) -> set[str]:
    """Return the terms of a text's words by the rules of these languages, without those of its codes and names."""
    if text.isascii():  # no word has marks or is dense, so its letters are enough
        words = {word[:TOKEN_CHARACTERS] for word in _PLAIN_WORD.findall(text.lower())}
        return {term for word in words for term in _terms_of(word, languages)}
    found = tokens(text)
    return {*(term for token in found for term in _word_terms(token, languages)), *_pairs(found)}


def asked_words(text: str, exact: Sequence[str] = ()) -> AskedWords:
    """Return the query of a text, and of phrases that must be contained.

    Words without a meaning of their own are left out if others are left. Every text is a query; a text without a letter
    or digit finds nothing.
    """
    phrases = [phrase for phrase in exact if phrase_of(phrase)][:MAX_EXACT]
    found = tokens(text)
    languages = languages_of(text)
    idle = frozenset[str]().union(*map(idle_words, languages))
    carrying = [token for token in found if token.folded not in idle] or found
    required = [token for phrase in phrases for token in tokens(phrase)]
    codes = _distinct([*_codes(text, found), *(run for phrase in phrases for run in _codes(phrase, tokens(phrase)))])
    names = _distinct(_names(text, found, all_of_it=len(found) <= 3))
    query = _Query(languages)
    for token in (*required, *carrying):
        query.add_word(token)
    for pair in (*(pair for phrase in phrases for pair in _pairs(tokens(phrase), alone=True)),
                 *_pairs(found, alone=True)):  # fmt: skip
        query.add_pair(pair)
    for run in (*codes, *names)[:MAX_CODES]:
        query.add_spelling(run)
    known = {_joined(run) for run in (*codes, *names)}
    for token in carrying[: 2 * MAX_CODES]:
        if len(token.folded) >= LEAST_NAME and _joined([token]) not in known:
            query.add_spelling([token], unless=query.group_of(token))
    whole = {_word_terms(token, ())[0] for token in required if not token.dense}
    return AskedWords(
        tuple(query.terms),
        tuple(map(phrase_of, phrases)),
        frozenset(term.term for term in query.terms if term.term in whole),
        languages,
    )


def grams(run: Sequence[Token], *, inner: bool) -> list[str]:
    """Return the threes of characters of a code's or name's tokens without separators, with its start and its end.

    inner: also with the starts and ends of its tokens.
    """
    words = [plain(token.folded).translate(_CONFUSED) for token in run]
    joined = "".join(words)
    threes = [joined[at : at + 3] for at in range(len(joined) - 2)]
    starts, ends, at = [], [], 0
    for word in words:
        starts.append(f"^{joined[at : at + 2]}")
        at += len(word)
        ends.append(f"{joined[max(0, at - 2) : at]}$")
    return list(dict.fromkeys([*threes, *(starts if inner else starts[:1]), *(ends if inner else ends[-1:])]))


class _Query:
    """The terms of a query as they are gathered."""

    def __init__(self, languages: tuple[str, ...]) -> None:
        self._languages = languages
        self.terms: list[AskedTerm] = []
        self._groups: dict[str, int] = {}

    def group_of(self, token: Token) -> int:
        return self._groups.get(f"w{token.folded}", -1)

    def add_word(self, token: Token) -> None:
        if not token.dense and (group := self._group(f"w{token.folded}")) is not None:
            whole, *bare = _word_terms(token, self._languages)
            self.terms.append(AskedTerm(whole, group))
            self.terms.extend(AskedTerm(term, group, STEM_WEIGHT) for term in bare)

    def add_pair(self, pair: str) -> None:
        if (group := self._group(pair)) is not None:
            self.terms.append(AskedTerm(pair, group))

    def add_spelling(self, run: Sequence[Token], *, unless: int = -1) -> None:
        parts = grams(run, inner=False)[:MAX_GRAMS]
        group = self._group(f"g{_joined(run)}", most=MAX_WORDS + 3 * MAX_CODES)
        if group is not None:
            weight = (GROUP_WEIGHT if unless < 0 else MISSPELT_WEIGHT) // len(parts)
            self.terms.extend(AskedTerm(f"g{gram}", group, weight, len(parts), unless) for gram in parts)

    def _group(self, key: str, *, most: int = MAX_WORDS) -> int | None:
        """Return the number of a new group; None if it is not new, or if there are enough."""
        if key in self._groups or len(self._groups) >= most:
            return None
        return self._groups.setdefault(key, len(self._groups))


def languages_of(text: str) -> tuple[str, ...]:
    """Return the languages by whose rules the words of text are stemmed: English, and that of the text if it shows."""
    language = language_of(text)
    return (ENGLISH,) if language in ("", ENGLISH) else (ENGLISH, language)


def _word_terms(token: Token, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the term of the word as it stands, then those without accents and of its stems."""
    return (f"s{token.folded}",) if token.dense else _terms_of(token.folded, languages)


@lru_cache(maxsize=65_536)
def _terms_of(word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    stems = dict.fromkeys([plain(word), *(plain(stem(word, language)) for language in languages)])
    return (*(() if word in stems else (f"w{word}",)), *(f"s{bare}" for bare in stems))


def _pairs(found: Sequence[Token], *, alone: bool = False) -> Iterator[str]:
    """Yield a term for every two neighbours in scripts without spaces. alone: also for a character without one."""
    touching = [a.dense and b.dense and a.end == b.start for a, b in pairwise(found)]
    for (a, b), joined in zip(pairwise(found), touching, strict=True):
        if joined:
            yield f"s{a.folded}{b.folded}"
    if alone:
        for token, before, after in zip(found, [False, *touching], [*touching, False], strict=False):
            if token.dense and not before and not after:
                yield f"s{token.folded}"


def _codes(text: str, found: Sequence[Token]) -> list[list[Token]]:
    """Return the runs of tokens with a digit among them that are joined, or short and one space apart: plates, codes,
    times and numbers."""
    runs: list[list[Token]] = []
    for token in found:
        if runs and _joins(text, runs[-1][-1], token):
            runs[-1].append(token)
        else:
            runs.append([token])
    return [run for run in runs if any(map(_has_digit, run)) and len(_joined(run)) >= 3]


def _joins(text: str, before: Token, after: Token) -> bool:
    between = text[before.end : after.start]
    if before.dense or after.dense or not _JOINT.fullmatch(between):
        return False
    near = (_has_digit(before) or _has_digit(after)) and max(len(before.folded), len(after.folded)) <= LEAST_NAME
    return between != " " or (near and not {before.folded, after.folded} & idle_words(ENGLISH))


def _names(text: str, found: Iterable[Token], *, all_of_it: bool = False) -> list[list[Token]]:
    """Return the words with a capital that no sentence begins with. all_of_it: also those that begin it."""
    return [
        [token]
        for token in found
        if len(token.folded) >= LEAST_NAME
        and token.written[:1].isupper()
        and not _has_digit(token)
        and (all_of_it or token.written.isupper() or not _begins(text, token))
    ]


def _begins(text: str, token: Token) -> bool:
    before = text[max(0, token.start - 4) : token.start]
    return not text[: token.start].strip() or bool(_SENTENCE_END.search(before))


def _has_digit(token: Token) -> bool:
    return any(character.isdigit() for character in token.folded)


def _joined(run: Sequence[Token]) -> str:
    return "".join(plain(token.folded) for token in run)


def _distinct(runs: Iterable[list[Token]]) -> list[list[Token]]:
    return list({_joined(run): run for run in runs}.values())
