"""Words that name a stretch before the words of its time: "in the period" of "in the period from ten to eleven"."""

from __future__ import annotations

import re

_ENGLISH = (
    r"(?:in|during|over|within|for) the (?:interval|period|window|section|bit|part|stretch|time|span|timeframe)"
    r"(?: of (?:the|this|that|my|our|your) (?:video|vid|recording|tape|footage|film|clip))?"
    r"(?: (?:that|which) (?:goes|runs|lasts))?"
)
_GERMAN = (
    r"(?:im|in dem|in der|während des|während der) (?:zeitraum|abschnitt|zeitabschnitt|intervall|teil|zeit|zeitspanne)"
)
_SPANISH = r"(?:en|durante) (?:el|la) (?:intervalo|per[ií]odo|tramo|parte|sección|segmento)"
_AT_THE_END = re.compile(rf"\b(?:{_ENGLISH}|{_GERMAN}|{_SPANISH})\s*$", re.IGNORECASE)
_MOMENT = re.compile(r"(?:at|about|around|um|gegen|a las?|sobre)\b", re.IGNORECASE)


def without_stretch(before: str, time: str) -> str:
    """Return the text before words of time without what names their stretch.

    Before a moment the same words name a place: "in the window at 10:05".
    """
    return before if _MOMENT.match(time) else _AT_THE_END.sub("", before)
