"""Months end at midnight on the tenant's clock: in three time zones, in leap years, and when the clocks change."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from backend.billing.services.invoicing.periods import midnight, month_of, period_from


def utc(year: int, month: int, day: int = 1, *time: int) -> datetime:
    hour, minute, second = (*time, 0, 0, 0)[:3]
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "at", "start", "end"),
    [
        ("UTC", (2026, 2, 28, 23, 59, 59), (2026, 2, 1), (2026, 3, 1)),
        # A leap day belongs to its February: 29 days of 24 hours.
        ("UTC", (2028, 2, 29, 12), (2028, 2, 1), (2028, 3, 1)),
        # Tokyo is nine hours ahead and has no daylight saving.
        ("Asia/Tokyo", (2028, 2, 29, 15), (2028, 2, 29, 15), (2028, 3, 31, 15)),
        ("Asia/Tokyo", (2028, 2, 29, 14, 59, 59), (2028, 1, 31, 15), (2028, 2, 29, 15)),
        # New York: the clocks go forward on 8 March 2026, so March begins at 5 and ends at 4 o'clock UTC.
        ("America/New_York", (2026, 3, 1, 5), (2026, 3, 1, 5), (2026, 4, 1, 4)),
        ("America/New_York", (2026, 3, 1, 4, 59), (2026, 2, 1, 5), (2026, 3, 1, 5)),
        # Berlin: October 2026 is an hour longer, since the clocks go back on the 25th.
        ("Europe/Berlin", (2026, 10, 25, 1), (2026, 9, 30, 22), (2026, 10, 31, 23)),
        ("Europe/Berlin", (2026, 12, 31, 23), (2026, 12, 31, 23), (2027, 1, 31, 23)),
    ],
)
def test_a_month_ends_at_midnight_on_the_tenants_clock(
    zone: str, at: tuple[int, ...], start: tuple[int, ...], end: tuple[int, ...]
) -> None:
    month = month_of(utc(*at), zone)

    assert (month.start, month.end) == (utc(*start), utc(*end))


def test_the_length_of_a_month_follows_the_clocks() -> None:
    hours = {
        (zone, at.month): (month_of(at, zone).end - month_of(at, zone).start) / timedelta(hours=1)
        for zone, at in (
            ("Europe/Berlin", utc(2026, 3, 15)),
            ("Europe/Berlin", utc(2026, 10, 15)),
            ("Asia/Tokyo", utc(2026, 3, 15)),
        )
    }

    assert hours == {("Europe/Berlin", 3): 743, ("Europe/Berlin", 10): 745, ("Asia/Tokyo", 3): 744}


def test_months_follow_each_other_without_a_gap_for_ten_years() -> None:
    for zone in ("UTC", "America/New_York", "Australia/Lord_Howe"):
        period = month_of(utc(2024, 1, 15), zone)
        days = []
        for _ in range(120):
            days.append((period.first_day, (period.last_day - period.first_day).days + 1))
            following = period_from(period.end, zone)
            assert following.start == period.end
            period = following
        assert [day for day, _ in days] == [date(2024 + n // 12, n % 12 + 1, 1) for n in range(120)]
        assert [length for day, length in days if day.month == 2] == [29, 28, 28, 28, 29, 28, 28, 28, 29, 28]


def test_a_change_of_the_time_zone_leaves_no_gap_and_no_overlap() -> None:
    """A tenant that moves from Tokyo to New York has a month that is fourteen hours longer."""
    march = month_of(utc(2026, 3, 10), "Asia/Tokyo")

    april = period_from(march.end, "America/New_York")

    # 31 March, 15:00 UTC is still March in New York: the rest of that day goes to April.
    assert (april.start, april.end) == (utc(2026, 3, 31, 15), utc(2026, 5, 1, 4))


def test_a_day_begins_when_the_clocks_skip_midnight() -> None:
    """In Beirut the clocks go from 0:00 to 1:00 on 29 March 2026."""
    assert midnight(date(2026, 3, 29), "Asia/Beirut") == utc(2026, 3, 28, 22)
