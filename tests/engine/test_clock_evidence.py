"""The wall clock of a video from what is said of its recordings and what its picture shows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from gpu_workers.engine.clock_evidence import FittedClock, RecordedPart, ShownPeriod, fit_wall_clock
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.wall_clock import ClockStretch, WallClock

BERLIN = "Europe/Berlin"
TZ = ZoneInfo(BERLIN)
MINUTE, HOUR = 60_000, 3_600_000


def berlin(text: str, *, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=TZ, fold=fold)


def clock_of(fitted: FittedClock) -> WallClock:
    assert fitted.clock is not None
    return fitted.clock


def local(clock: WallClock, ms: int) -> str:
    moment = clock.at(ms)
    assert moment is not None
    return moment.isoformat()


def test_nothing_known_is_no_clock() -> None:
    assert fit_wall_clock([RecordedPart(Span(0, HOUR))], []) == FittedClock(None)
    assert fit_wall_clock([], [ShownPeriod(0, "2026-05-03T14:00:00")]) == FittedClock(None)


def test_a_stretch_needs_an_instant() -> None:
    with pytest.raises(ValueError, match="time zone"):
        ClockStretch(Span(0, 1), datetime(2026, 5, 3))  # noqa: DTZ001


def test_summer_time_begins_and_ends_inside_a_recording() -> None:
    """Local time skips 02:00 to 03:00 on 29 March 2026, and passes it twice on 25 October. The video runs on."""
    spring = clock_of(fit_wall_clock([RecordedPart(Span(0, 3 * HOUR), berlin("2026-03-29T01:00"))], [], zone=BERLIN))
    assert [local(spring, hour * HOUR) for hour in range(3)] == [
        "2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00",
    ]  # fmt: skip
    assert spring.spans(berlin("2026-03-29T03:00"), berlin("2026-03-29T04:00")) == (Span(HOUR, 2 * HOUR),)
    assert spring.spans(berlin("2026-03-29T02:00"), berlin("2026-03-29T03:00")) == ()

    autumn = clock_of(fit_wall_clock([RecordedPart(Span(0, 4 * HOUR), berlin("2026-10-25T01:00"))], [], zone=BERLIN))
    assert [local(autumn, hour * HOUR) for hour in range(4)] == [
        "2026-10-25T01:00:00+02:00", "2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00",
        "2026-10-25T03:00:00+01:00",
    ]  # fmt: skip
    assert autumn.spans(berlin("2026-10-25T02:00"), berlin("2026-10-25T03:00")) == (Span(HOUR, 3 * HOUR),)


def test_the_picture_may_follow_summer_time_or_not() -> None:
    """One camera shows the jump, another keeps winter time: both filmed the same instants."""
    follows = [ShownPeriod(0, "2026-03-29T01:00:00"), ShownPeriod(HOUR, "2026-03-29T03:00:00")]
    keeps = [ShownPeriod(0, "2026-03-29T01:00:00")]
    parts = [RecordedPart(Span(0, 3 * HOUR))]
    expected = (ClockStretch(Span(0, 3 * HOUR), berlin("2026-03-29T01:00"), "picture"),)
    assert clock_of(fit_wall_clock(parts, follows, zone=BERLIN)).stretches == expected
    assert clock_of(fit_wall_clock(parts, keeps, zone=BERLIN)).stretches == expected


def test_an_hour_that_comes_twice_goes_on_from_the_one_before() -> None:
    shown = [ShownPeriod(0, "2026-10-25T02:30:00"), ShownPeriod(30 * MINUTE, "2026-10-25T02:00:00")]
    clock = clock_of(fit_wall_clock([RecordedPart(Span(0, 2 * HOUR))], shown, zone=BERLIN))
    assert clock.stretches == (ClockStretch(Span(0, 2 * HOUR), datetime(2026, 10, 25, 0, 30, tzinfo=UTC), "picture"),)
    assert local(clock, 30 * MINUTE) == "2026-10-25T02:00:00+01:00"


def test_gaps_between_appended_recordings_are_no_time_of_the_video() -> None:
    """Three recordings lie back to back in the video. The last one was filmed before the others."""
    parts = [
        RecordedPart(Span(0, HOUR), berlin("2026-05-03T14:00")),
        RecordedPart(Span(HOUR, 2 * HOUR), berlin("2026-05-03T18:00")),
        RecordedPart(Span(2 * HOUR, 3 * HOUR), berlin("2026-05-01T09:00")),
    ]
    clock = clock_of(fit_wall_clock(parts, [], zone=BERLIN))
    assert local(clock, HOUR - 1) == "2026-05-03T14:59:59.999000+02:00"
    assert local(clock, HOUR) == "2026-05-03T18:00:00+02:00"
    assert clock.until(HOUR) == berlin("2026-05-03T15:00")
    assert clock.until(3 * HOUR) == berlin("2026-05-01T10:00")
    assert clock.at(3 * HOUR) is None
    assert clock.spans(berlin("2026-05-03T15:00"), berlin("2026-05-03T18:00")) == ()
    assert clock.spans(berlin("2026-05-03T14:30"), berlin("2026-05-03T18:30")) == (Span(30 * MINUTE, 90 * MINUTE),), (
        "the gap takes no time of the video, so the two parts are neighbours"
    )
    assert clock.spans(berlin("2026-05-01T00:00"), berlin("2026-05-02T00:00")) == (Span(2 * HOUR, 3 * HOUR),)


def test_a_recording_without_a_time_of_its_own_goes_on_from_the_one_before() -> None:
    parts = [RecordedPart(Span(0, HOUR)), RecordedPart(Span(HOUR, 2 * HOUR), berlin("2026-05-03T18:00"))]
    parts.append(RecordedPart(Span(2 * HOUR, 3 * HOUR)))
    clock = clock_of(fit_wall_clock(parts, [], zone=BERLIN))
    assert clock.at(0) is None
    assert clock.stretches == (ClockStretch(Span(HOUR, 3 * HOUR), berlin("2026-05-03T18:00")),)


def test_what_the_customer_says_wins_and_the_picture_says_how_time_goes_on() -> None:
    """The camera's clock is 7 min fast. After 30 min of video its recording paused for a quarter of an hour, and within
    the next half hour it drifted by 5 s."""
    shown = [
        ShownPeriod(0, "2026-05-03T14:07:00"),
        ShownPeriod(30 * MINUTE, "2026-05-03T14:52:00"),
        ShownPeriod(60 * MINUTE, "2026-05-03T15:22:05"),
    ]
    fitted = fit_wall_clock([RecordedPart(Span(0, 90 * MINUTE), berlin("2026-05-03T14:00"))], shown, zone=BERLIN)
    clock = clock_of(fitted)
    starts = [(each.span.start_ms, each.begins_at.astimezone(TZ).time().isoformat()) for each in clock.stretches]
    assert starts == [
        (0, "14:00:00"), (30 * MINUTE, "14:45:00"), (60 * MINUTE, "15:15:05"),
    ]  # fmt: skip
    assert {stretch.source for stretch in clock.stretches} == {"recorded_at"}
    (contradiction,) = fitted.contradictions
    assert contradiction.at_ms == 0
    assert (contradiction.stated, contradiction.shown) == (berlin("2026-05-03T14:00"), berlin("2026-05-03T14:07"))
    assert clock.shown[0].begins_at == berlin("2026-05-03T14:07")
    assert clock.shown[1].begins_at == berlin("2026-05-03T14:52")


def test_a_clock_some_seconds_off_contradicts_nothing() -> None:
    shown = [ShownPeriod(0, "2026-05-03T14:00:59")]
    fitted = fit_wall_clock([RecordedPart(Span(0, HOUR), berlin("2026-05-03T14:00"))], shown, zone=BERLIN)
    assert fitted.contradictions == ()
    assert clock_of(fitted).shown == ()
    assert clock_of(fitted).at(0) == berlin("2026-05-03T14:00")


def test_a_wrong_clock_is_as_wrong_in_the_next_recording() -> None:
    """The camera is set to 2019. The next recording, of which nothing is said, began 40 min after the first ended."""
    shown = [ShownPeriod(0, "2019-01-01T00:00:00"), ShownPeriod(HOUR, "2019-01-01T01:40:00")]
    parts = [RecordedPart(Span(0, HOUR), berlin("2026-05-03T14:00")), RecordedPart(Span(HOUR, 2 * HOUR))]
    clock = clock_of(fit_wall_clock(parts, shown, zone=BERLIN))
    # 1 January is in winter time and 3 May is not, but 100 min are 100 min.
    assert clock.at(HOUR) == berlin("2026-05-03T15:40")


def test_a_clock_without_a_date_passes_midnight() -> None:
    shown = [ShownPeriod(0, "23:30:00"), ShownPeriod(HOUR, "08:00:00")]
    clock = clock_of(fit_wall_clock([RecordedPart(Span(0, 2 * HOUR))], shown))
    assert not clock.dated
    assert not clock.absolute
    starts = [stretch.begins_at for stretch in clock.stretches]
    assert starts[1] - starts[0] == timedelta(hours=8, minutes=30)
    assert local(clock, 45 * MINUTE).endswith("00:15:00+00:00")


def test_a_clock_without_a_date_gets_it_from_what_the_customer_says() -> None:
    shown = [ShownPeriod(0, "00:10:00")]
    fitted = fit_wall_clock([RecordedPart(Span(0, HOUR), berlin("2026-05-03T23:59:30"))], shown, zone=BERLIN)
    clock = clock_of(fitted)
    assert clock.dated
    assert clock.at(0) == berlin("2026-05-03T23:59:30")
    (contradiction,) = fitted.contradictions
    assert contradiction.shown == berlin("2026-05-04T00:10:00")


def test_a_picture_alone_knows_local_times_and_no_instants() -> None:
    clock = clock_of(fit_wall_clock([RecordedPart(Span(0, HOUR))], [ShownPeriod(0, "2026-05-03T14:00:00")]))
    assert clock.dated
    assert not clock.absolute
    assert local(clock, MINUTE) == "2026-05-03T14:01:00+00:00"
