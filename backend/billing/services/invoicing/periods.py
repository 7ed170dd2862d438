"""Billing periods: calendar months on the tenant's own clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class Period:
    """The half-open span from start up to end, both in UTC, of one month in a time zone."""

    start: datetime
    end: datetime
    time_zone: str

    @property
    def first_day(self) -> date:
        """Return the first day of the period on the tenant's clock."""
        return self.start.astimezone(ZoneInfo(self.time_zone)).date()

    @property
    def last_day(self) -> date:
        """Return the last day of the period on the tenant's clock."""
        return (self.end - timedelta(microseconds=1)).astimezone(ZoneInfo(self.time_zone)).date()


def month_of(at: datetime, time_zone: str) -> Period:
    """Return the month that contains a moment in a time zone (an IANA name)."""
    day = at.astimezone(ZoneInfo(time_zone)).date()
    return Period(midnight(day.replace(day=1), time_zone), midnight(month_after(day), time_zone), time_zone)


def period_from(start: datetime, time_zone: str) -> Period:
    """Return the period that follows another that ended at start.

    The period ends at the next month's beginning on the tenant's clock, so periods touch even if the tenant has changed
    its time zone. A rest of less than a day becomes part of the month that follows.
    """
    zone = ZoneInfo(time_zone)
    end = midnight(month_after(start.astimezone(zone).date()), time_zone)
    if end - start < timedelta(days=1):
        end = midnight(month_after(end.astimezone(zone).date()), time_zone)
    return Period(start, end, time_zone)


def month_after(day: date) -> date:
    """Return the first day of the month after a day's."""
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)


def midnight(day: date, time_zone: str) -> datetime:
    """Return the moment at which a day begins in a time zone, in UTC.

    If the clocks skip midnight, the day begins at the moment of the change.
    """
    return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(time_zone)).astimezone(UTC)
