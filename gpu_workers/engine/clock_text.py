"""Times as people read them."""

from __future__ import annotations

from gpu_workers.engine.ekg import Span


def clock(ms: int) -> str:
    """Return mm:ss, or h:mm:ss from one hour on."""
    minutes, seconds = divmod(ms // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


def clock_span(span: Span) -> str:
    """Return the begin and the end of a span on the clock, joined by a hyphen."""
    return f"{clock(span.start_ms)}-{clock(span.end_ms)}"
