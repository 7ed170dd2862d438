"""The clock in the picture: the texts that are read as a clock, and the video's start time on it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_workers.engine.models.observer.clock import fit_clock, fit_clock_periods, read_clock


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("12:34:56", "12:34:56"),
        ("2021-03-04 12:34:56", "2021-03-04T12:34:56"),
        ("2021-03-0412:34:56", "2021-03-04T12:34:56"),
        ("2021/03/04T12:34:56Z", "2021-03-04T12:34:56"),
        ("2021年03月04日 12:34:56", "2021-03-04T12:34:56"),
        ("25/12/2021 00:00:01", "2021-12-25T00:00:01"),
        ("12-25-2021 00:00:01", "2021-12-25T00:00:01"),
        ("04.03.2021 07:08:09", "2021-03-04T07:08:09"),
        ("03/04/2021 11:02:03 PM", "23:02:03"),
        ("CAM 3 12:00:00 am", "00:00:00"),
        ("12:05:06.789", "12:05:06"),
        ("12;34;56", "12:34:56"),
        ("21:07", "21:07"),
    ],
)
def test_times_are_read_and_a_date_only_where_it_is_clear(text: str, shown: str) -> None:
    reading = read_clock(text)
    assert reading is not None
    moved = fit_clock([(0, text), (60_000, _later(text))]) if reading.fine else None
    if moved is not None:
        assert moved.at_zero == shown
    minutes = reading.seconds % 86_400 // 60
    assert f"{minutes // 60:02}:{minutes % 60:02}" in shown
    assert reading.dated == ("T" in shown)
    assert reading.fine == (shown.count(":") == 2)


def _later(text: str) -> str:
    """Return the same text a minute later."""
    for sign in (":", ";"):
        if sign in text:
            hour, minute, rest = text.split(sign, 2)
            return f"{hour}{sign}{int(minute) + 1:02}{sign}{rest}"
    raise AssertionError(text)


@pytest.mark.parametrize(
    "text",
    ["", "EXIT", "25:00:00", "12:60:00", "13:00 PM", "192.168.0.1:80", "Open 9:00-17:00", "2021-03-04", "1:2", "12:3",
     "99:99:99", "1234:56:78", "00:00:00:00"],
)  # fmt: skip
def test_other_numbers_are_no_clock(text: str) -> None:
    assert read_clock(text) is None


@given(st.integers(0, 86_399), st.integers(2, 12), st.sampled_from([3_000, 12_000, 30_000]))
def test_a_clock_is_found_to_the_second_over_midnight_too(start_s: int, count: int, step_ms: int) -> None:
    def shown(ms: int) -> str:
        now = (start_s + ms // 1000) % 86_400
        return f"{now // 3600:02}:{now // 60 % 60:02}:{now % 60:02}"

    moments = [1_500 + step_ms * k for k in range(count)]
    clock = fit_clock([(ms, shown(ms)) for ms in moments])

    assert clock is not None
    assert clock.readings == count
    difference = (clock.zero_s - start_s + 43_200) % 86_400 - 43_200
    assert abs(difference) <= 1
    assert clock.at(0) == clock.at_zero


def test_a_dated_clock_goes_on_into_the_next_day() -> None:
    clock = fit_clock([(0, "2021-12-31 23:59:58"), (3_000, "2022-01-01 00:00:01"), (6_000, "2022-01-01 00:00:04")])
    assert clock is not None
    assert clock.at_zero == "2021-12-31T23:59:58"
    assert clock.at(62_000) == "2022-01-01T00:01:00"


def test_misread_digits_are_outvoted() -> None:
    clock = fit_clock(
        [(0, "12:00:00"), (3_000, "12:08:03"), (6_000, "12:00:06"), (9_000, "18:00:09"), (12_000, "12:00:12")]
    )
    assert clock is not None
    assert (clock.at_zero, clock.readings) == ("12:00:00", 3)


def test_a_date_in_a_line_of_its_own_belongs_to_the_time_beside_it() -> None:
    clock = fit_clock([(0, "2021-03-04"), (0, "12:00:00"), (9_000, "12:00:09"), (9_000, "2021-03-04"), (9_000, "CAM")])
    assert clock is not None
    assert clock.at_zero == "2021-03-04T12:00:00"


@pytest.mark.parametrize(
    "readings",
    [
        [],
        [(0, "12:00:00")],
        [(0, "12:00:00"), (0, "12:00:00")],
        [(0, "12:00:00"), (3_000, "12:00:00"), (6_000, "12:00:00")],
        [(0, "12:00:00"), (30_000, "12:00:00"), (60_000, "12:00:00")],
        [(0, "12:00:09"), (9_000, "12:00:00")],
        [(0, "12:00:00"), (9_000, "17:31:42")],
        [(0, "12:00:00"), (9_000, "12:00:09"), (12_000, "01:02:03"), (15_000, "06:05:04"), (18_000, "09:08:07")],
        [(0, "19:30"), (9_000, "19:30")],
        [(0, "41:07"), (3_000, "41:10")],
        [(0, "00:07"), (60_000, "01:07"), (120_000, "02:07")],
    ],
    ids=["nothing", "one", "one moment", "stands", "stands long", "runs back", "two numbers", "mostly others",
         "too short for minutes", "no time of day", "a timer of minutes and seconds"],
)  # fmt: skip
def test_what_does_not_go_on_as_the_video_does_is_no_clock(readings: list[tuple[int, str]]) -> None:
    assert fit_clock(readings) is None


def test_a_clock_without_seconds_is_good_to_the_minute() -> None:
    clock = fit_clock([(ms, f"19:{30 + (ms + 20_000) // 60_000:02}") for ms in range(0, 300_000, 12_000)])
    assert clock is not None
    assert (clock.at_zero, clock.readings) == ("19:30", 25)


def _clock_text(zero_s: int, ms: int) -> str:
    now = (zero_s + ms // 1000) % 86_400
    return f"{now // 3600:02}:{now // 60 % 60:02}:{now % 60:02}"


def _readings(*parts: tuple[int, int, int]) -> list[tuple[int, str]]:
    """Return a reading every 3 s of each part (from_ms, until_ms, clock at 0 ms in seconds)."""
    return [(ms, _clock_text(zero_s, ms)) for start, end, zero_s in parts for ms in range(start, end, 3_000)]


def test_a_jump_of_the_clock_starts_a_period() -> None:
    noon, summer_time, after_a_pause = 43_200, 46_800, 46_980
    periods = fit_clock_periods(
        _readings((0, 60_000, noon), (60_000, 120_000, summer_time), (120_000, 180_000, after_a_pause))
    )
    assert [(period.from_ms, period.at_start) for period in periods] == [
        (0, "12:00:00"),
        (60_000, "13:01:00"),
        (120_000, "13:05:00"),
    ]
    assert [period.clock.readings for period in periods] == [20, 20, 20]


def test_a_digit_misread_for_a_while_starts_no_period() -> None:
    readings = _readings((0, 60_000, 43_200), (60_000, 75_000, 43_680), (75_000, 150_000, 43_200))
    (period,) = fit_clock_periods(readings)
    assert (period.from_ms, period.at_start, period.clock.readings) == (0, "12:00:00", 45)


def test_a_clock_that_drifts_is_never_further_off_than_two_readings_may_be_apart() -> None:
    hours = 4
    readings = [(ms, _clock_text(43_200 + ms // 600_000, ms)) for ms in range(0, hours * 3_600_000, 30_000)]
    periods = fit_clock_periods(readings)
    assert len(periods) > 1
    for ms, text in readings:
        clock = next(period.clock for period in reversed(periods) if period.from_ms <= ms)
        shown, fitted = read_clock(text), read_clock(clock.at(ms))
        assert shown is not None
        assert fitted is not None
        assert abs(shown.seconds - fitted.seconds) <= 5


def test_one_clock_is_one_period_and_none_is_none() -> None:
    (period,) = fit_clock_periods(_readings((0, 90_000, 80_000)))
    assert period.clock == fit_clock(_readings((0, 90_000, 80_000)))
    assert fit_clock_periods([(0, "EXIT"), (3_000, "EXIT")]) == ()
