"""Text of strangers in prompts: it cannot end the tags that hold it, fake a turn of the chat, or hide what it says.

Strangers write the speech, the writing on screen, the titles and file names, and the subtitles of a recording; a model
that has read them writes descriptions. A question is written by a customer, and may quote any of them.
"""

from __future__ import annotations

import re

DELIMITERS = ("event", "events", "passage", "text", "observation", "objects", "findings", "tool")
"""Names of the tags between which prompts put words that are data."""

RESERVED = ("captions", "program")
"""Names of further things that methods show. No prompt has tags for them yet."""

CHAT_ROLES = ("system", "user", "assistant")

UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""NUL and halves of surrogate pairs: JSON can spell them, UTF-8 cannot."""

_JOINERS = "\u200c\u200d"
"""Zero-width characters that words of some languages, such as Persian and Hindi, are written with."""
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that nobody sees: zero-width ones, marks of direction, and the tags that spell ASCII invisibly."""
_OPENS, _CLOSES = "<\ufe64\uff1c", ">\ufe65\uff1e"
_NAMES = "|".join(f"[{_JOINERS}]?".join(name) for name in (*DELIMITERS, *RESERVED, *CHAT_ROLES))
# Bounded repetitions, so that no text takes more than linear time.
_TAGS = re.compile(
    rf"[{_OPENS}][\s/\uff0f{_JOINERS}]{{0,9}}(?:{_NAMES})\b[^{_OPENS}{_CLOSES}]{{0,200}}[{_CLOSES}]"
    rf"|[{_OPENS}]\|[^|{_CLOSES}]{{0,40}}\|[{_CLOSES}]",
    re.IGNORECASE,
)
_BRACKETS = str.maketrans(dict.fromkeys(_OPENS + _CLOSES, " "))


def without_tags(text: str) -> str:
    """Return text with its lines, storable, that can neither end its tags nor fake a chat turn, in visible characters.

    A text that has a tag again after its tags were taken out, because they were nested, loses all angle brackets.
    """
    shown = _INVISIBLE.sub("", UNSTORABLE.sub("", text))
    left = _TAGS.sub(" ", shown)
    return left.translate(_BRACKETS) if _TAGS.search(left) else left


def as_data(text: str) -> str:
    """Return such a text on one line."""
    return " ".join(without_tags(text).split())
