"""English words of statements about all events, for the routes that match them: stems, opposites, negation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from gpu_workers.engine.languages import words as other_languages
from gpu_workers.engine.languages.codes import is_english


def content_sequence(text: str) -> list[str]:
    """Return content_words() in the order of the text."""
    return [stem(word) for word in _words(text) if word not in _IDLE]


def decisive_words(text: str, language: str = "") -> frozenset[str]:
    """Return the words of text that make it another answer, however similar the rest is: numbers, yes, negation (as
    "not"), directions, colours."""
    if not is_english(language):
        return other_languages.numbers_of(text, language)
    words = list(_words(text))
    decisive = {word for word in words if word in _DECISIVE or any(character.isdigit() for character in word)}
    if any(word in _NEGATIONS or word.endswith("n't") for word in words):
        decisive.add("not")
    return frozenset(decisive)


def opposed_words(left: str, right: str, *, strictly: bool = False, language: str = "") -> frozenset[str]:
    """Return the stems of left that name a side of a pair of opposites of which right names only the other side."""
    if not is_english(language):
        return frozenset()
    ours, theirs = _sides(left), _sides(right)
    pairs = {
        pair
        for pair in ours.keys() & theirs.keys()
        if not ours[pair].keys() & theirs[pair].keys() and (not strictly or pair < _STRICT)
    }
    return frozenset(word for pair in pairs for words in ours[pair].values() for word in words)


def negated_words(text: str, language: str = "") -> frozenset[str]:
    """Return the content words that text denies: up to four after a negation, within its clause."""
    if not is_english(language):
        return frozenset()
    negated: set[str] = set()
    for clause in re.split(r"[,.;:!?]|\b(?:but|and|while|whereas)\b", text.lower()):
        words = list(_words(clause))
        for index, word in enumerate(words):
            if word in _NEGATIONS or word.endswith("n't"):
                after = [stem(other) for other in words[index + 1 :] if other not in _IDLE]
                negated.update(after[:4])
                break
    return frozenset(negated)


def counted(text: str, language: str = "") -> dict[str, frozenset[str]]:
    """Return the content words that directly follow a number, each with its numbers as digits."""
    numbers_by_noun: dict[str, set[str]] = {}
    if not is_english(language):
        words = other_languages.content_words(text, language)
        for word, other in pairwise(words):
            if word.isdigit() and not other.isdigit():
                numbers_by_noun.setdefault(other, set()).add(str(int(word)))
        return {noun: frozenset(numbers) for noun, numbers in numbers_by_noun.items()}
    words = list(_words(text))
    for index, word in enumerate(words):
        if not word.isdigit():
            continue
        for other in words[index + 1 : index + 4]:
            if other in _IDLE or other.isdigit():
                break
            numbers_by_noun.setdefault(stem(other), set()).add(word)
    return {noun: frozenset(numbers) for noun, numbers in numbers_by_noun.items()}


def miscounted(left: str, right: str, language: str = "") -> bool:
    """Whether the texts give different counts of the same thing."""
    ours, theirs = counted(left, language), counted(right, language)
    return any(not numbers & theirs[noun] for noun, numbers in ours.items() if noun in theirs)


def stem(word: str) -> str:
    """Return word without inflection, by its ending alone: chase, chases, chased and chasing give the same stem."""
    word = _IRREGULAR.get(word, word)
    bare = word
    if len(word) > 4 and (ending := _ENDING.search(word)) and re.search("[aeiouy]", word[: ending.start()]):
        bare = word[: ending.start()]
        if ending.group() == "ed" and bare.endswith("e"):
            bare = word
    elif len(word) == 4 and word.endswith("s") and not word.endswith("ss"):
        bare = word[:-1]
    if len(bare) > 3 and bare.endswith("e"):
        bare = bare[:-1]
    if len(bare) > 3 and bare[-1] == bare[-2]:
        bare = bare[:-1]
    return bare


def _words(text: str) -> Iterator[str]:
    """Yield the words in lower case with numbers as digits; "no one" is nobody and "not only" denies nothing."""
    text = re.sub(r"\bnot only\b", " ", text.lower().replace("\u2019", "'"))
    text = re.sub(r"\bno[ -]one\b", "nobody", text)
    for word in re.findall(r"\w+(?:'t)?", text):
        yield _NUMBER_WORDS.get(word, word)


def _sides(text: str) -> dict[int, dict[int, set[str]]]:
    """Return the pairs of opposites that text names a side of: pair -> side -> stems that name it."""
    sides: dict[int, dict[int, set[str]]] = {}
    words = list(_words(text))
    for index, word in enumerate(words):
        if word in ("on", "off") and index + 1 < len(words) and stem(words[index - 1]) not in _SWITCHED:
            continue
        for pair, side in _SIDE_OF.get(stem(word), ()):
            sides.setdefault(pair, {}).setdefault(side, set()).add(stem(word))
    return sides


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENDING = re.compile(r"(ing|ed|(?<=[sxzh])es|(?<!s)s)$")
_IRREGULAR = {
    "people": "person", "persons": "person", "men": "man", "women": "woman", "children": "child", "ran": "run",
    "sits": "sit", "sat": "sit", "stood": "stand", "went": "go", "goes": "go", "took": "take", "gave": "give",
    "left": "left",
}  # fmt: skip
_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBER_WORDS = {
    **{word: str(number) for number, word in enumerate(_NUMBERS.split())},
    **{word: str(10 * tens) for tens, word in enumerate(_TENS, start=3)},
    "hundred": "100", "dozen": "12", "couple": "2", "pair": "2", "twice": "2", "once": "1", "single": "1",
}  # fmt: skip
_NEGATIONS = _set("no not never none nobody nothing neither nor without cannot")
_DECISIVE = _set(
    "yes left right north south east west black white grey gray red green blue yellow orange brown pink purple"
)
_OPPOSITES = (
    "inside indoors / outside outdoors",
    "open / close closed shut",
    "enter / leave exit",
    "arrive / depart",
    "man boy male / woman girl female",
    "sit / stand",
    "push / pull",
    "win / lose",
    "buy / sell",
    "rise / fall",
    "increase / decrease",
    "above / below under",
    "empty / full",
    "big large / small little",
    "fast quickly / slow slowly",
    "hot / cold",
    "wet / dry",
    "clean / dirty",
    "alive / dead",
    "laugh smile / cry",
    "true / false",
    # From here on not strictly.
    "up / down",
    "before / after",
    "first / last",
    "start begin / stop end",
    "on / off",
    "front / behind back",
    "day / night",
    "old / young",
    "high / low",
    "more / fewer less",
)
_STRICT = _OPPOSITES.index("up / down")
_SWITCHED = _set("turn switch get put is")
_SIDE_OF: dict[str, set[tuple[int, int]]] = {}
for _pair, _line in enumerate(_OPPOSITES):
    for _side, _names in enumerate(_line.split(" / ")):
        for _name in _names.split():
            _SIDE_OF.setdefault(stem(_name), set()).add((_pair, _side))
_IDLE = _set(
    "a an and are as at be been by do does did for from had has have in into is it its of on or that the their "
    "there they this to was were what when where which who will with yes no not "
    "never none nobody nothing neither nor without cannot don't doesn't didn't isn't aren't wasn't weren't won't can't "
    "couldn't hasn't haven't hadn't"
)
