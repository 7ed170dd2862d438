"""When something was recorded, on the wire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from backend.library.models import Video
from backend.library.wall_clocks import filmed, fitted_clocks
from backend.tenancy.refusals import invalid
from gpu_workers.engine.clock_evidence import FittedClock

RECORDED_AT_HELP = (
    "When the recording began: an ISO date and time with an offset such as `+02:00` or `Z`, or without one if "
    "`time_zone` says where."
)
START_AT_HELP = "When it was filmed, in the video's time zone; null if unknown."
END_AT_HELP = "When it ended, in the video's time zone; null if unknown."
TIME_ZONE_HELP = "IANA name of the time zone in which you speak about the recording, such as `Europe/Berlin`."


def within_longest(duration_ms: int) -> None:
    """Check that the service indexes recordings of this duration. Raises ValidationError `too_long`."""
    if duration_ms > settings.MAX_VIDEO_MS:
        raise serializers.ValidationError(f"The longest recording has {settings.MAX_VIDEO_MS} ms.", code="too_long")


class AnnouncedDurationField(serializers.IntegerField):
    """The duration of a recording that has not arrived, as the customer announces it, in milliseconds."""

    def __init__(self) -> None:
        super().__init__(
            min_value=1,
            validators=[within_longest],
            required=False,
            help_text="Duration of the recording, if you know it. So many minutes of your plan and budget are reserved "
            "until it is measured. By default the duration is assumed by the size.",
        )


@extend_schema_field({"type": "string", "format": "date-time"})
class LocalTimeField(serializers.Field[datetime, Any, str, datetime]):
    """An instant, in and out with the offset of its own time zone. In, it may lack one: placed() decides then."""

    def to_internal_value(self, data: Any) -> datetime:
        try:
            moment = datetime.fromisoformat(data)
        except (TypeError, ValueError):
            moment = None
        if moment is None or not 1800 <= moment.year <= 2200:
            raise serializers.ValidationError("Give an ISO 8601 date and time.", code="invalid")
        return moment

    def to_representation(self, value: datetime) -> str:
        return value.isoformat(timespec="milliseconds")


class TimeZoneField(serializers.CharField):
    """An IANA name of a time zone."""

    def to_internal_value(self, data: Any) -> str:
        name: str = super().to_internal_value(data)
        if name and name not in available_timezones():
            raise serializers.ValidationError("There is no time zone of this name.", code="unknown_time_zone")
        return name


@extend_schema_field({"type": "string", "format": "date-time", "nullable": True})
class FilmedAtField(serializers.Field[Any, Any, str | None, Any]):
    """When a span of a video was filmed. of: the time of the span, video_id and start_ms or end_ms of the value.

    within: the attribute of the value that holds them, "" for the value itself. span: the attribute with the times.
    """

    def __init__(self, *, of: Literal["start", "end"], span: str = "", within: str = "", **options: Any) -> None:
        self._of, self._span, self._within = of, span, within
        super().__init__(read_only=True, source="*", **options)

    def to_representation(self, value: Any) -> str | None:
        value = getattr(value, self._within) if self._within else value
        clock = _clocks(self.root, [value.video_id])[value.video_id]
        span = getattr(value, self._span) if self._span else value
        moment = filmed(clock, span.start_ms, span.end_ms)[f"{self._of}_at"]
        return None if moment is None else moment.isoformat(timespec="milliseconds")


def remember_clocks(root: Any, video_ids: Iterable[UUID]) -> None:
    """Read the clocks of these videos at once for the FilmedAtFields under a serializer."""
    _clocks(root, video_ids)


def _clocks(root: Any, video_ids: Iterable[UUID]) -> dict[UUID, FittedClock]:
    """Return the clocks of videos, each read once for a serializer; an empty one for a video that is gone."""
    known: dict[UUID, FittedClock] = root.__dict__.setdefault("_filmed_clocks", {})
    missing = {video_id for video_id in video_ids if video_id not in known}
    if missing:
        known.update(dict.fromkeys(missing, FittedClock(None)))
        known.update(fitted_clocks(Video.objects.filter(id__in=missing)))
    return known


def placed(fields: Mapping[str, Any], *, zone: str = "") -> dict[str, Any]:
    """Return fields with recorded_at as an instant, and with the time zone that its offset names if none is known.

    zone: the time zone known before. Raises Refused (400) if nothing says where a local time is meant.
    """
    made = dict(fields)
    zone = made.get("time_zone") or zone
    recorded_at = made.get("recorded_at")
    if recorded_at is None:
        return made
    if recorded_at.tzinfo is not None:
        if not zone:
            made["time_zone"] = _zone_of(recorded_at.utcoffset())
        return made
    if not zone:
        raise invalid(
            pointer="/recorded_at",
            code="time_zone_missing",
            detail="recorded_at has no offset. Add one, such as +02:00, or give time_zone.",
        )
    made["recorded_at"] = recorded_at.replace(tzinfo=ZoneInfo(zone))
    return made


def _zone_of(offset: timedelta | None) -> str:
    """Return the IANA name of a fixed offset. Raises Refused (400) if it has none."""
    hours = (offset or timedelta()) / timedelta(hours=1)
    name = "UTC" if not hours else f"Etc/GMT{-int(hours):+d}"
    if hours != int(hours) or (name != "UTC" and name not in available_timezones()):
        raise invalid(
            pointer="/time_zone",
            code="time_zone_missing",
            detail="No time zone has this offset all year round; give time_zone, too.",
        )
    return name
