"""Times written out in words, in every form that the grammar knows and in each of its languages."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gpu_workers.engine.answering.reading.expressions import Expression, NamedTime

SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000


@dataclass(frozen=True, slots=True)
class Spoken:
    """A time in words, and the stretch in ms of a video that it means."""

    words: str
    start_ms: int
    end_ms: int


_EN_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_EN_TENS = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty"}
_EN_ORDINALS = {1: "first", 2: "second", 3: "third", 5: "fifth", 12: "twelfth", 21: "21st", 32: "32nd", 43: "43rd"}
_DE_ONES = [
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
]
_DE_TENS = {20: "zwanzig", 30: "dreißig", 40: "vierzig", 50: "fünfzig"}
_ES_ONES = [
    "cero",
    "uno",
    "dos",
    "tres",
    "cuatro",
    "cinco",
    "seis",
    "siete",
    "ocho",
    "nueve",
    "diez",
    "once",
    "doce",
    "trece",
    "catorce",
    "quince",
    "dieciséis",
    "diecisiete",
    "dieciocho",
    "diecinueve",
    "veinte",
    "veintiuno",
    "veintidós",
    "veintitrés",
    "veinticuatro",
    "veinticinco",
    "veintiséis",
    "veintisiete",
    "veintiocho",
    "veintinueve",
]
_ES_TENS = {30: "treinta", 40: "cuarenta", 50: "cincuenta"}


def english_number(n: int) -> str:
    if n < 20:
        return _EN_ONES[n]
    ten, one = n - n % 10, n % 10
    return _EN_TENS[ten] if not one else f"{_EN_TENS[ten]}-{_EN_ONES[one]}"


def german_number(n: int) -> str:
    if n < 20:
        return _DE_ONES[n]
    ten, one = n - n % 10, n % 10
    return _DE_TENS[ten] if not one else f"{'ein' if one == 1 else _DE_ONES[one]}und{_DE_TENS[ten]}"


def spanish_number(n: int) -> str:
    if n < 30:
        return _ES_ONES[n]
    ten, one = n - n % 10, n % 10
    return _ES_TENS[ten] if not one else f"{_ES_TENS[ten]} y {_ES_ONES[one]}"


def long_clock(ms: int) -> str:
    return f"{ms // HOUR}:{ms % HOUR // MINUTE:02}:{ms % MINUTE // SECOND:02}"


def short_clock(ms: int) -> str:
    return f"{ms // MINUTE}:{ms % MINUTE // SECOND:02}"


def _edge(until_ms: int) -> int:
    """Return the length of the beginning, and of the end, of a video."""
    return min(until_ms // 10, 600 * SECOND)


def spoken_times(random: random.Random, until_ms: int) -> dict[str, Sequence[Spoken]]:
    """Return, by language, one random time of each form. until_ms: length of the video, at least an hour."""
    at = random.randrange(until_ms // SECOND) * SECOND
    early, late = sorted(random.sample(range(until_ms // SECOND), 2))
    minute = random.randrange(1, 59)
    n = random.randrange(2, 60)
    hours, minutes = random.randrange(1, 3), random.randrange(2, 40)
    nth = random.choice(sorted(_EN_ORDINALS))
    half, third = until_ms // 2, until_ms // 3
    first = (0, min(n * MINUTE, until_ms))
    last = (max(0, until_ms - n * MINUTE), until_ms)
    both = (hours * HOUR + minutes * MINUTE, min(until_ms, hours * HOUR + minutes * MINUTE + MINUTE))
    fits = both[0] < both[1]
    english = [
        Spoken(f"at {long_clock(at)}", at, at + SECOND),
        Spoken(f"at {long_clock(at)} of the video", at, at + SECOND),
        Spoken(f"between {long_clock(early * SECOND)} and {long_clock(late * SECOND)}", early * SECOND, late * SECOND),
        Spoken(f"from {long_clock(early * SECOND)} to {long_clock(late * SECOND)}", early * SECOND, late * SECOND),
        Spoken(f"{long_clock(early * SECOND)}-{long_clock(late * SECOND)}", early * SECOND, late * SECOND),
        Spoken(f"after {long_clock(at)}", at, until_ms),
        Spoken(f"from {long_clock(at)} onwards", at, until_ms),
        Spoken(f"before {long_clock(at + SECOND)}", 0, at + SECOND),
        Spoken(f"at minute {minute}", minute * MINUTE, (minute + 1) * MINUTE),
        Spoken(f"in minute {minute}", minute * MINUTE, (minute + 1) * MINUTE),
        Spoken(f"between minutes {minute} and {minute + 1}", minute * MINUTE, (minute + 1) * MINUTE),
        Spoken(f"in the {_EN_ORDINALS[nth]} minute", (nth - 1) * MINUTE, nth * MINUTE),
        Spoken(f"at the {minute} minute mark", minute * MINUTE, (minute + 1) * MINUTE),
        Spoken(f"{english_number(n)} minutes into the video", n * MINUTE, (n + 1) * MINUTE),
        Spoken(f"in the first {n} minutes", *first),
        Spoken(f"during the first {english_number(n)} minutes of the video", *first),
        Spoken(f"in the last {english_number(n)} minutes", *last),
        Spoken("in the last half hour", until_ms - 30 * MINUTE, until_ms),
        Spoken("within the last hour", until_ms - HOUR, until_ms),
        Spoken("in the first half", 0, half),
        Spoken("in the second half of the recording", half, until_ms),
        Spoken("in the last third", 2 * until_ms // 3, until_ms),
        Spoken("in the second quarter of the video", until_ms // 4, half),
        Spoken("at the beginning", 0, _edge(until_ms)),
        Spoken("at the very start of the video", 0, _edge(until_ms)),
        Spoken("at the end", until_ms - _edge(until_ms), until_ms),
        Spoken("in the middle of the video", 4 * until_ms // 10, 6 * until_ms // 10),
    ]
    german = [
        Spoken(f"bei {long_clock(at)}", at, at + SECOND),
        Spoken(f"zwischen {long_clock(early * SECOND)} und {long_clock(late * SECOND)}", early * SECOND, late * SECOND),
        Spoken(f"in Minute {minute}", minute * MINUTE, (minute + 1) * MINUTE),
        Spoken(f"in den ersten {german_number(n)} Minuten", *first),
        Spoken(f"in den letzten {german_number(n)} Minuten des Videos", *last),
        Spoken("in der letzten halben Stunde", until_ms - 30 * MINUTE, until_ms),
        Spoken("in der zweiten Hälfte", half, until_ms),
        Spoken("im ersten Drittel des Films", 0, third),
        Spoken("am Anfang", 0, _edge(until_ms)),
        Spoken("am Ende", until_ms - _edge(until_ms), until_ms),
    ]
    spanish = [
        Spoken(f"en el minuto {minute}", minute * MINUTE, (minute + 1) * MINUTE),
        Spoken(f"entre {long_clock(early * SECOND)} y {long_clock(late * SECOND)}", early * SECOND, late * SECOND),
        Spoken(f"en los primeros {spanish_number(n)} minutos", *first),
        Spoken(f"durante los últimos {spanish_number(n)} minutos del video", *last),
        Spoken("en la última media hora", until_ms - 30 * MINUTE, until_ms),
        Spoken("en la segunda mitad", half, until_ms),
        Spoken("al principio", 0, _edge(until_ms)),
        Spoken("al final", until_ms - _edge(until_ms), until_ms),
    ]
    if fits:
        english.append(Spoken(f"{hours} hours and {minutes} minutes into the video", *both))
    return {"en": english, "de": german, "es": spanish}


FRAMES: dict[str, Sequence[Callable[[str], str]]] = {
    "en": (lambda time: f"What happens {time}?", lambda time: f"{time.capitalize()}, who comes in?"),
    "de": (lambda time: f"Was geschieht {time}?", lambda time: f"{time[0].upper()}{time[1:]}, wer kommt da?"),
    "es": (lambda time: f"¿Qué pasa {time}?", lambda time: f"{time[0].upper()}{time[1:]}, ¿quién entra?"),
}
"""Questions around a time, by language."""


def only(named: NamedTime | None) -> Expression:
    assert named is not None
    (expression,) = named.expressions
    return expression
