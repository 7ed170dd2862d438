"""Words of time in Spanish."""

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
from gpu_workers.engine.answering.reading.times.lexicon import Lexicon, entries, listed, numbered

_ONES = listed(
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
    "dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete "
    "veintiocho veintinueve"
)
_TENS = {"treinta": 30, "cuarenta": 40, "cincuenta": 50}
_ORDINALS = listed("primer segund tercer cuart quint sext séptim octav noven décim")
_MORNING, _AFTERNOON, _NIGHT = PartOfDay(5, 12), PartOfDay(12, 20), PartOfDay(20, 30)
_VIDEOS = ("del video", "del vídeo", "de la grabación", "de la película", "en el video", "en el vídeo", "del clip")
_CLOCKS = ("cuando el reloj", "mientras el reloj", "cuando la hora en pantalla")
_SHOWS = listed("marcaba mostraba marcó mostró decía indicaba")
_ORDINAL_FORMS = {f"{stem}{end}": n for n, stem in enumerate(_ORDINALS, start=1) for end in ("o", "a", "os", "as")}

SPANISH = Lexicon.of(
    "es",
    entries("n", numbered(_ONES) | {"un": 1, "una": 1, "veintiún": 21, "veintiuna": 21}),
    entries(
        "n",
        _TENS | {f"{ten} y {one}": _TENS[ten] + n for ten, (n, one) in product(_TENS, enumerate(_ONES[1:10], start=1))},
    ),
    entries("o", _ORDINAL_FORMS | {"primer": 1, "tercer": 3}),
    entries("o", "último / última / últimos / últimas / final", -1),
    entries("u", {"hora / horas": HOUR_MS, "minuto / minutos": MINUTE_MS, "segundos": SECOND_MS}),
    entries("Q", "segundo", SECOND_MS),
    entries(
        "d",
        {
            "media hora": HOUR_MS // 2,
            "cuarto de hora / un cuarto de hora": HOUR_MS // 4,
            "hora y media / una hora y media": 3 * HOUR_MS // 2,
            "medio minuto": MINUTE_MS // 2,
        },
    ),
    entries("c", {"mediodía": Reading((12, 0), spoken=True), "medianoche": Reading((0, 0), spoken=True)}),
    entries(
        "c",
        {
            f"{hour} {words}": Reading(((n if minute > 0 else n - 1) or 12, minute % 60), spoken=True)
            for (words, minute), (n, hour) in product(
                {"y media": 30, "y cuarto": 15, "menos cuarto": -15}.items(), enumerate(_ONES[1:13], start=1)
            )
        },
    ),
    entries("a", "a / a las / a la / en / el / al / hacia las"),
    entries("b", "entre / entre las / entre la"),
    entries("f", "desde / desde las / de / de las"),
    entries("&", "y / y las / y la / a las / hasta / hasta las"),
    entries("a", "a las / a la"),
    entries("i", "en / durante / dentro / mientras"),
    entries("t", "la / los / las / el / del"),
    entries("f", "de / de las"),
    entries("H", {"mitad": 2, "cuarto": 4, "tercio": 3}),
    entries("B", "principio / comienzo / inicio"),
    entries("E", "fin"),
    entries("Z", "al principio / al comienzo / al inicio / en el comienzo"),
    entries("Y", "al final"),
    entries("M", "en medio / a la mitad"),
    entries("V", " / ".join(_VIDEOS)),
    entries("N", "desde el inicio / desde el comienzo"),
    entries("y", {"hoy": 0, "ayer": 1, "anteayer": 2, "hace un día": 1, "hace una semana": 7}),
    entries("y", {f"hace {word} días": n for n, word in enumerate(_ONES[2:15], start=2)}),
    entries("y", {"esta mañana": (0, _MORNING), "esta tarde": (0, _AFTERNOON)}),
    entries("y", {"esta noche": (0, _NIGHT), "anoche": (1, _NIGHT)}),
    entries(
        "y",
        " / ".join(f"{at} fin de semana" for at in ("el", "este", "en el", "durante el", "del")),
        (Day(weekday=5), WEEKEND),
    ),
    entries("J", "día"),
    entries(
        "J", {f"el {nth} día": n for nth, n in (_ORDINAL_FORMS | {"primer": 1, "tercer": 3, "último": -1}).items()}
    ),
    entries("w", numbered(listed("lunes martes miércoles jueves viernes sábado domingo"))),
    entries(
        "m",
        numbered(
            listed("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"), first=1
        ),
    ),
    entries(
        "p",
        {
            "por la mañana / de la mañana / en la mañana / mañana": _MORNING,
            "por la tarde / de la tarde / en la tarde / tarde": _AFTERNOON,
            "por la noche / de la noche / en la noche / noche": _NIGHT,
            "cada mañana / todas las mañanas / por las mañanas": replace(_MORNING, every=True),
            "cada tarde / todas las tardes / por las tardes": replace(_AFTERNOON, every=True),
            "cada noche / todas las noches / por las noches": replace(_NIGHT, every=True),
        },
    ),
    entries(">", "después de / tras / después"),
    entries("<", "antes de / antes / hasta"),
    entries("S", " / ".join(f"{c} {s}" for c, s in product(_CLOCKS, _SHOWS))),
    entries("g", "sobre / sobre las / aproximadamente / alrededor de / alrededor de las"),
    entries("j", "poco / justo / poco tiempo / inmediatamente"),
    entries("C", "marca de tiempo"),
    entries("R", "en adelante"),
)
