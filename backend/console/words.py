"""How the console words states and spans. Template tags need it while the admin is still being imported."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

_TONES = {
    "ready": "good", "succeeded": "good", "enabled": "good", "assembled": "good",
    "failed": "bad", "dead": "bad", "auto_disabled": "bad", "stuck": "bad",
    "running": "busy", "indexing": "busy", "probing": "busy", "observed": "busy",
}  # fmt: skip


def badge(word: str) -> SafeString:
    """A state as a coloured word."""
    return format_html('<span class="c-badge c-{}">{}</span>', _TONES.get(word, "calm"), word)


def ago(at: Any) -> str:
    """A span like "3 min" since a moment."""
    if at is None:
        return "–"
    seconds = (timezone.now() - at).total_seconds()
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if abs(seconds) >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
