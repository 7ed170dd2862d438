"""Dates and times as logs write them, with the zone: a page is read in other zones than the one that it was made in."""

DATE_FORMAT = "Y-m-d"
DATETIME_FORMAT = "Y-m-d H:i e"
SHORT_DATE_FORMAT = DATE_FORMAT
SHORT_DATETIME_FORMAT = DATETIME_FORMAT
