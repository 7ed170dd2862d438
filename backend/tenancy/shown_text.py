"""Names as they are shown: in one line, of characters that stand as they are. Logs, tables and mails hold names."""

from __future__ import annotations

import unicodedata

from django.core.exceptions import ValidationError

CODE = "invalid_characters"
MESSAGE = "Leave out line breaks, control characters and characters that turn text around."
_UNSHOWN = frozenset({"Cc", "Zl", "Zp"})
"""Unicode categories of control characters and of the separators of lines and paragraphs."""
_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that only change the direction of the text around them (Unicode's Bidi_Control)."""


def is_shown(character: str) -> bool:
    """Whether a character stands in one line as it is."""
    return unicodedata.category(character) not in _UNSHOWN and character not in _TURNS


def require_one_line(text: str) -> None:
    """Check a name, as a validator of Django. Raises ValidationError `invalid_characters`."""
    if not all(map(is_shown, text)):
        raise ValidationError(MESSAGE, code=CODE)


def in_one_line(text: str) -> str:
    """Return a name that nobody can be asked to correct, such as an identity provider's, without other characters."""
    return "".join(filter(is_shown, " ".join(text.split())))
