"""Dates and times as logs write them, with the zone: a page is read in other zones than the one that it was made in."""

DATE_FORMAT = "d.m.Y"
DATETIME_FORMAT = "d.m.Y H:i e"
SHORT_DATE_FORMAT = DATE_FORMAT
SHORT_DATETIME_FORMAT = DATETIME_FORMAT
