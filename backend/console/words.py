"""Words for states and spans. A module of its own, because template tags load it before the admin is imported."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

_TONES = {
    "ready": "good", "succeeded": "good", "completed": "good", "enabled": "good", "assembled": "good",
    "closed": "good", "paid": "good", "active": "good",
    "failed": "bad", "dead": "bad", "auto_disabled": "bad", "void": "bad", "stuck": "bad", "open": "bad",
    "running": "busy", "grading": "busy", "indexing": "busy", "probing": "busy", "observed": "busy",
    "half_open": "busy",
}  # fmt: skip


def badge(word: str) -> SafeString:
    """Return a state as a coloured word."""
    return format_html('<span class="c-badge c-{}">{}</span>', _TONES.get(word, "calm"), in_words(word))


def in_words(name: str) -> str:
    """Return a name of the program in words: stored_bytes is stored bytes."""
    return name.replace("_", " ")


def ago(at: Any) -> str:
    """Return the time since a moment, like "3 min"."""
    if at is None:
        return "–"
    seconds = (timezone.now() - at).total_seconds()
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if abs(seconds) >= size:
            return f"{seconds / size:.0f} {unit}"
    # The clock of the host that wrote the moment may be ahead.
    return f"{max(seconds, 0):.0f} s"
