"""Times as short canonical text, so that tables of sentences can say what they mean."""

from __future__ import annotations

from gpu_workers.engine.answering.reading.forms import (
    CENTRE,
    CLOSING,
    OPENING,
    Clocked,
    ClockTime,
    Day,
    Edge,
    Form,
    Fraction,
    NamedTime,
    Order,
    PartOfDay,
)


def meaning(named: NamedTime) -> str:
    """Return "" for no time, else the forms: "first 600 s", "between 10:00 and 10:30", "after 2 delivery"."""
    return "; ".join(_said(each) for each in named.forms)


def _said(each: Form) -> str:
    named = {OPENING: "beginning", CLOSING: "end", CENTRE: "middle"}.get(each, "") if isinstance(each, Fraction) else ""
    if isinstance(each, Fraction):
        return named or f"{each.start} to {each.end} of {each.of}"
    if isinstance(each, Edge):
        return f"{each.edge} {each.ms // 1_000} s"
    if isinstance(each, Order):
        away = f" at {each.at_ms // 1_000} s" if each.at_ms else ""
        away += f" within {each.within_ms // 1_000} s" if each.within_ms else ""
        last = f" and {each.last_nth} {each.last_anchor}" if each.last_anchor else ""
        return f"{each.order} {each.nth} {each.anchor}{last}{away}"
    return _clocked(each)


def _clocked(each: Clocked) -> str:
    times = " and ".join(_clock(time) for time in (each.start, each.end) if time is not None)
    more = [_day(each.day), _part(each.part), "" if each.frame == "any" else f"({each.frame})"]
    return " ".join(filter(None, [each.kind, "about" if each.about else "", times, *more]))


def _clock(time: ClockTime) -> str:
    figures = ":".join(f"{part:02}" if n else str(part) for n, part in enumerate(time.parts))
    return figures + ("'" if time.half == "either" else time.half)


def _day(day: Day | None) -> str:
    if day is None:
        return ""
    if day.ago is not None:
        return f"{day.ago} days ago"
    if day.weekday is not None:
        return f"weekday {day.weekday}"
    return f"day {day.nth}" if day.nth else f"{day.year or '*'}-{day.month:02}-{day.day:02}"


def _part(part: PartOfDay | None) -> str:
    return "" if part is None else f"{part.start}-{part.end}h{' every day' if part.every else ''}"
