"""Words of time in German."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from gpu_workers.engine.answering.reading.expressions import (
    HOUR_MS,
    MINUTE_MS,
    SECOND_MS,
    WEEKEND,
    Day,
    PartOfDay,
    Reading,
)
from gpu_workers.engine.answering.reading.times.lexicon import BEFORE_NOUN, Lexicon, entries, listed, numbered

_ONES = listed(
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn"
)
_TENS = {"zwanzig": 20, "dreißig": 30, "vierzig": 40, "fünfzig": 50}
_STEMS = listed(
    "erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft dreizehnt vierzehnt fünfzehnt sechzehnt "
    "siebzehnt achtzehnt neunzehnt zwanzigst"
)
_ENDINGS = ("e", "en", "er", "es", "em")
_DAYS = listed("montag dienstag mittwoch donnerstag freitag samstag sonntag")
_PARTS = {
    "morgen": PartOfDay(5, 12),
    "vormittag": PartOfDay(9, 12),
    "nachmittag": PartOfDay(12, 18),
    "abend": PartOfDay(18, 23),
    "nacht": PartOfDay(21, 30),
}
_VIDEOS = listed("video film clip videos films clips")
_SHOWS = "als die uhr / während die uhr / wenn die uhr / als die uhr im bild / als die zeitanzeige"

GERMAN = Lexicon.of(
    "de",
    entries("n", numbered(_ONES) | {"ein": 1, "eine": 1, "einer": 1, "einem": 1, "zwo": 2}),
    entries(
        "n",
        _TENS
        | {
            f"{'ein' if n == 1 else one}und{ten}": _TENS[ten] + n
            for ten, (n, one) in product(_TENS, enumerate(_ONES[1:10], start=1))
        },
    ),
    entries("o", {f"{stem}{end}": n for (stem, n), end in product(numbered(_STEMS, first=1).items(), _ENDINGS)}),
    entries("o", " / ".join(f"letzt{end}" for end in _ENDINGS), -1),
    entries("u", {"stunde / stunden": HOUR_MS, "minute / minuten": MINUTE_MS, "sekunde / sekunden": SECOND_MS}),
    entries(
        "d",
        {
            "halbe stunde / halben stunde": HOUR_MS // 2,
            "viertelstunde": HOUR_MS // 4,
            "dreiviertelstunde": 3 * HOUR_MS // 4,
            "anderthalb stunden / eineinhalb stunden": 3 * HOUR_MS // 2,
            "halbe minute / halben minute": MINUTE_MS // 2,
        },
    ),
    entries("c", {"mittag / mittags": Reading((12, 0), spoken=True), "mitternacht": Reading((0, 0), spoken=True)}),
    entries(
        "c",
        {
            f"{words} {hour}": Reading(((n if minute == 15 else n - 1) or 12, minute), spoken=True)
            for (words, minute), (n, hour) in product(
                {"halb": 30, "viertel nach": 15, "viertel vor": 45, "dreiviertel": 45}.items(),
                enumerate(_ONES[1:13], start=1),
            )
        },
    ),
    entries("a", "um / bei / am / an / ab"),
    entries("b", "zwischen"),
    entries("f", "von / vom / seit / ab"),
    entries("&", "und / bis"),
    entries("i", "in / im / während / innerhalb / über"),
    entries("t", "der / die / das / den / dem / des / diesem / dieser"),
    entries("O", "von"),
    entries("f", "von"),
    entries("H", {"hälfte": 2, "drittel": 3, "viertel": 4}),
    entries("B", "anfang / beginn"),
    entries("E", "ende / schluss"),
    entries("Z", "zu beginn / zu anfang / ganz am anfang"),
    entries("Y", "zum schluss / ganz am ende"),
    entries("M", "mitte"),
    entries(
        "V", " / ".join(f"{of} {v}" for of, v in product(("des", "im", "vom", "von dem", "dieses", "in dem"), _VIDEOS))
    ),
    entries("V", "der aufnahme / in der aufnahme / dieser aufnahme / der aufzeichnung / in der aufzeichnung"),
    entries("N", "nach beginn / nach anfang / ins video hinein"),
    entries("y", {"heute": 0, "gestern": 1, "vorgestern": 2, "vor einem tag": 1, "vor einer woche": 7}),
    entries("y", {f"vor {word} tagen": n for n, word in enumerate(_ONES[2:15], start=2)}),
    entries("y", "am wochenende / das wochenende / dieses wochenende / letztes wochenende", (Day(weekday=5), WEEKEND)),
    entries("J", "tag / tages"),
    entries("w", numbered(_DAYS) | {"sonnabend": 5}),
    entries(
        "w",
        {f"{day}{part}": (n, times) for (day, n), (part, times) in product(numbered(_DAYS).items(), _PARTS.items())},
    ),
    entries(
        "m",
        numbered(listed("januar februar märz april mai juni juli august september oktober november dezember"), first=1),
    ),
    entries("p", {f"am {part} / {part} / {part}s": times for part, times in _PARTS.items() if part != "nacht"}),
    entries(
        "p",
        {
            f"{'jede' if part == 'nacht' else 'jeden'} {part}": replace(times, every=True)
            for part, times in _PARTS.items()
        },
    ),
    entries("p", "in der nacht / nachts / nacht", _PARTS["nacht"]),
    entries(">", "nach / später als", BEFORE_NOUN),
    entries(">", "nachdem"),
    entries("<", "vor / bis zu / früher als", BEFORE_NOUN),
    entries("<", "bevor"),
    entries("S", _SHOWS),
    entries("g", "etwa / ungefähr / gegen / circa / rund"),
    entries("j", "kurz / gleich / direkt / unmittelbar"),
    entries("K", "uhr"),
    entries("C", "zeitmarke / zeitstempel"),
    entries("R", "an / weiter"),
)
