"""Questions that name a time of the video or of the wall clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bench.evaluation.tape10.question import Drawing, Kind, Rule, TapeQuestion
from bench.evaluation.tape10.saying import ORDINALS, clock_times, length, video_times
from bench.evaluation.tape10.scenes import NAMES, scene
from bench.evaluation.tape10.world import ZONE
from gpu_workers.engine.ekg import Span

TIME_FORMS = {
    "moment": 14, "stretch": 14, "first": 5, "last": 5, "hour": 4, "end": 2, "after": 8, "before": 4, "outside": 4,
}  # fmt: skip
CLOCK_FORMS = {"moment": 14, "bare": 4, "span": 18, "relative": 12, "daypart": 4, "today": 4, "outside": 4}
"""Number of questions of each form."""

Draw = Callable[[Drawing], TapeQuestion | None]


def question(
    drawing: Drawing,
    kind: Kind,
    form: str,
    text: str,
    rule: Rule,
    *,
    now: datetime | None = None,
    span: Span | None = None,
    moment: int | None = None,
    anchor: int | None = None,
    number: int | None = None,
    topics: tuple[tuple[str, ...], ...] = (),
    scene: str = "",
) -> TapeQuestion:
    """Return a question without an id. now: local, without a zone; by default noon of the day after the tape."""
    last = drawing.local.at(drawing.world.span.end_ms // 1_000 - 1)
    asked = now or last.replace(hour=12, minute=0, second=0) + timedelta(days=1)
    zoned = asked.replace(tzinfo=ZoneInfo(ZONE))
    return TapeQuestion("", kind, form, text, zoned, rule, span, moment, anchor, number, topics, scene)


def several(drawing: Drawing, draw: Draw, count: int) -> Iterator[TapeQuestion]:
    """Yield questions with different words, a few of them for one answer; fewer than count if the tape has no more."""
    seen: set[str] = set()
    answers: Counter[object] = Counter()
    for attempt in range(100 * count):
        drawn = draw(drawing)
        if drawn is None or drawn.text in seen:
            continue
        # A short tape may have nothing else to ask for.
        if drawn.topics and answers[drawn.topics] > attempt // (10 * count):
            continue
        seen.add(drawn.text)
        answers[drawn.topics] += 1
        yield replace(drawn, id=f"{drawn.kind}-{drawn.form}-{len(seen):02}")
        if len(seen) == count:
            return


# --- times of the video --------------------------------------------------------------------------------------------


def video_moment(drawing: Drawing) -> TapeQuestion | None:
    ms = drawing.rng.randrange(2, drawing.minutes) * 60_000
    text = drawing.sentence("time.moment", video_times(ms))
    if video_times(ms)["hms"] not in text:
        return question(drawing, "time", "moment", text, "moment", span=Span(ms, ms + 60_000))
    exact = ms + drawing.rng.randrange(60) * 1_000
    text = text.replace(video_times(ms)["hms"], video_times(exact)["hms"])
    return question(drawing, "time", "moment", text, "moment", span=Span(exact, exact + 1_000))


def video_stretch(drawing: Drawing) -> TapeQuestion | None:
    start = drawing.rng.randrange(1, drawing.minutes - 2)
    end = min(drawing.minutes - 1, start + drawing.rng.choice((2, 3, 5, 8, 10, 15, 20, 40)))
    span = Span(start * 60_000, end * 60_000)
    text = drawing.sentence("time.stretch", video_times(span.start_ms, span.end_ms))
    return question(drawing, "time", "stretch", text, "span", span=span)


def video_edge(form: str) -> Draw:
    def draw(drawing: Drawing) -> TapeQuestion | None:
        minutes = drawing.rng.choice([n for n in (2, 5, 8, 10, 12, 15, 20, 30, 45, 60, 120) if n < drawing.minutes])
        end = drawing.world.span.end_ms
        span = Span(0, minutes * 60_000) if form == "first" else Span(end - minutes * 60_000, end)
        text = drawing.sentence(f"time.{form}", {"length": length(minutes)})
        return question(drawing, "time", form, text, "span", span=span)

    return draw


def video_hour(drawing: Drawing) -> TapeQuestion | None:
    hours = drawing.minutes // 60
    if not hours:
        return None
    n = drawing.rng.randint(1, hours)
    text = drawing.sentence("time.hour", {"nth": ORDINALS[n]})
    return question(drawing, "time", "hour", text, "span", span=Span((n - 1) * 3_600_000, n * 3_600_000))


def video_end(drawing: Drawing) -> TapeQuestion | None:
    end = drawing.world.span.end_ms
    return question(drawing, "time", "end", drawing.sentence("time.end", {}), "end", span=Span(end - 60_000, end))


def in_order(form: str) -> Draw:
    def draw(drawing: Drawing) -> TapeQuestion | None:
        happening = drawing.rng.choice([h for name in NAMES for h in scene(name).happenings if h.order])
        found = [moment for moment in drawing.world.moments if moment.happening == happening.name]
        nth = drawing.rng.randint(1, min(len(found), len(ORDINALS) - 1))
        anchor = found[nth - 1].n
        text = drawing.sentence(f"time.{form}", {"nth": ORDINALS[nth], "noun": happening.order})
        moment = anchor + 1 if form == "after" else anchor - 1
        return question(drawing, "time", form, text, "order", moment=moment, anchor=anchor)

    return draw


def video_outside(drawing: Drawing) -> TapeQuestion | None:
    minute = drawing.minutes + drawing.rng.randrange(15, 300)
    text = drawing.sentence("time.outside", video_times(minute * 60_000, (minute + 10) * 60_000))
    return question(drawing, "time", "outside", text, "nothing")


# --- times of the wall clock ---------------------------------------------------------------------------------------


def _instant(drawing: Drawing, *, every: int = 1) -> datetime:
    """Return a local time at a full minute near some moment of the tape."""
    time = drawing.local.at(drawing.rng.randrange(drawing.world.span.end_ms // 1_000))
    return time.replace(second=0, minute=time.minute // every * every)


def clock_moment(drawing: Drawing) -> TapeQuestion | None:
    time = _instant(drawing)
    end = time + timedelta(minutes=1)
    span = drawing.local.span(time, end)
    if span is None or span.duration_ms < 60_000:
        return None
    text = drawing.sentence("clock.moment", clock_times(time, end))
    return question(drawing, "clock", "moment", text, "moment", span=span)


def clock_bare(drawing: Drawing) -> TapeQuestion | None:
    time = _instant(drawing)
    days = (time + timedelta(days=days) for days in range(-3, 4))
    if sum(drawing.local.filmed(day, day + timedelta(minutes=1)) for day in days) != 1:
        return None
    span = drawing.local.span(time, time + timedelta(minutes=1))
    # Without "pm", a small hour could also be one of the other half of the day.
    if span is None or span.duration_ms < 60_000 or time.hour < 13:
        return None
    text = drawing.sentence("clock.bare", clock_times(time, time))
    return question(drawing, "clock", "bare", text, "moment", span=span)


def clock_stretch(drawing: Drawing) -> tuple[datetime, datetime, Span] | None:
    """Return a stretch of local time that is filmed in one part, for at least half of it."""
    quarters = drawing.rng.random() < 0.5
    start = _instant(drawing, every=15 if quarters else 5)
    end = start + timedelta(minutes=drawing.rng.choice((15, 30, 45, 60) if quarters else (5, 10, 20, 25, 40)))
    span = drawing.local.span(start, end)
    if span is None or 2 * span.duration_ms < (end - start) / timedelta(milliseconds=1) or start.date() != end.date():
        return None
    return start, end, span


def clock_span(drawing: Drawing) -> TapeQuestion | None:
    drawn = clock_stretch(drawing)
    if drawn is None:
        return None
    start, end, span = drawn
    slots = clock_times(start, end)
    text = drawing.sentence("clock.span", slots, without=() if slots["said"] and slots["said2"] else ("said",))
    return question(drawing, "clock", "span", text, "span", span=span)


def clock_relative(drawing: Drawing) -> TapeQuestion | None:
    drawn = clock_stretch(drawing)
    if drawn is None:
        return None
    start, end, span = drawn
    days, words = drawing.rng.choice(((1, "yesterday"), (1, "yesterday"), (2, "the day before yesterday")))
    now = start.replace(hour=drawing.rng.randrange(8, 20), minute=12) + timedelta(days=days)
    slots = {**clock_times(start, end), "day": words}
    text = drawing.sentence("clock.relative", slots, without=() if slots["said"] and slots["said2"] else ("said",))
    return question(drawing, "clock", "relative", text, "span", span=span, now=now)


_PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24)}


def clock_daypart(drawing: Drawing) -> TapeQuestion | None:
    day = _instant(drawing).replace(hour=0, minute=0)
    part = drawing.rng.choice(list(_PARTS))
    span = drawing.local.span(*(day + timedelta(hours=hour) for hour in _PARTS[part]))
    if span is None or span.duration_ms < 600_000:
        return None
    text = drawing.sentence("clock.daypart", {**clock_times(day, day), "part": part})
    return question(drawing, "clock", "daypart", text, "span", span=span)


_TODAY = {
    "this morning": (0, 5, 12, 15), "this afternoon": (0, 12, 18, 20), "yesterday morning": (1, 5, 12, 10),
    "yesterday afternoon": (1, 12, 18, 9), "last night": (0, -2, 5, 10),
}  # fmt: skip
"""Words for a part of a day: days ago, first hour, last hour, and the hour at which they are said."""


def clock_today(drawing: Drawing) -> TapeQuestion | None:
    day = _instant(drawing).replace(hour=0, minute=0)
    words = drawing.rng.choice(list(_TODAY))
    ago, first, last, asked = _TODAY[words]
    span = drawing.local.span(day + timedelta(hours=first), day + timedelta(hours=last))
    if span is None or span.duration_ms < 600_000:
        return None
    text = drawing.sentence("clock.today", {"today": words})
    now = day + timedelta(days=ago, hours=asked)
    return question(drawing, "clock", "today", text, "span", span=span, now=now)


def clock_outside(drawing: Drawing) -> TapeQuestion | None:
    day = _instant(drawing).replace(hour=0, minute=0)
    start = day + timedelta(minutes=drawing.rng.randrange(5 * 60, 23 * 60))
    end = start + timedelta(minutes=20)
    if drawing.local.filmed(start - timedelta(minutes=30), end + timedelta(minutes=30)) or start.hour < 5:
        return None
    # 4 o'clock without "am" or "pm" may be the afternoon's.
    if start.hour < 13 and drawing.local.filmed(start + timedelta(hours=11), end + timedelta(hours=13)):
        return None
    text = drawing.sentence("clock.outside", clock_times(start, end))
    return question(drawing, "clock", "outside", text, "nothing")


def time_questions(drawing: Drawing) -> Iterator[TapeQuestion]:
    draws: dict[str, Draw] = {
        "moment": video_moment, "stretch": video_stretch, "first": video_edge("first"), "last": video_edge("last"),
        "hour": video_hour, "end": video_end, "after": in_order("after"), "before": in_order("before"),
        "outside": video_outside,
    }  # fmt: skip
    for form, count in TIME_FORMS.items():
        yield from several(drawing, draws[form], count)


def clock_questions(drawing: Drawing) -> Iterator[TapeQuestion]:
    draws: dict[str, Draw] = {
        "moment": clock_moment, "bare": clock_bare, "span": clock_span, "relative": clock_relative,
        "daypart": clock_daypart, "today": clock_today, "outside": clock_outside,
    }  # fmt: skip
    for form, count in CLOCK_FORMS.items():
        yield from several(drawing, draws[form], count)
