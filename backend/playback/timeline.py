"""The timeline of a video in one reply: arrays by field, coarse enough for a screen and whole for ten hours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from rest_framework import serializers

from backend.api.public_ids import PublicIdField
from backend.ekg import queries
from backend.ekg.queries import Narrowing
from backend.library.models import Video

POINTS = 2_000
"""Number of stretches that a screen can show apart: speech and objects closer than this share of the video are one."""

Key = TypeVar("Key")


class _TimesSerializer(serializers.Serializer[Any]):
    start_ms = serializers.ListField(child=serializers.IntegerField())
    end_ms = serializers.ListField(child=serializers.IntegerField())


class TimelineEventsSerializer(_TimesSerializer):
    id = serializers.ListField(child=PublicIdField("evt"))


class TimelineTopicsSerializer(_TimesSerializer):
    title = serializers.ListField(child=serializers.CharField())


class TimelineSpeechSerializer(_TimesSerializer):
    track = serializers.ListField(child=serializers.IntegerField(), help_text="Number of the audio track, from 1.")


class TimelineObjectsSerializer(_TimesSerializer):
    category = serializers.ListField(child=serializers.CharField())


class TimelineGapsSerializer(_TimesSerializer):
    code = serializers.ListField(child=serializers.CharField())


class TimelineSerializer(serializers.Serializer[Any]):
    """The n-th entries of all arrays of a lane belong together."""

    video_id = PublicIdField("vid")
    index_version = serializers.IntegerField()
    duration_ms = serializers.IntegerField(allow_null=True)
    resolution_ms = serializers.IntegerField(
        help_text="Stretches of speech and objects that are no further apart than this are one."
    )
    events = TimelineEventsSerializer()
    topics = TimelineTopicsSerializer()
    speech = TimelineSpeechSerializer()
    objects = TimelineObjectsSerializer(help_text="When at least one object of a category is visible.")
    gaps = TimelineGapsSerializer(help_text="Parts that could not be described, with their codes.")


def timeline_body(video: Video) -> dict[str, Any]:
    """Return the timeline of the active index, inside the open tenant_scope."""
    part = Narrowing()
    resolution = max(1_000, (video.duration_ms or 0) // POINTS)
    events = list(queries.events(video, part).order_by("n").values_list("id", "start_ms", "end_ms"))
    topics = queries.topics(video).order_by("n").values_list("title", "start_ms", "end_ms")
    lines = queries.transcript(video, part).values_list("track", "start_ms", "end_ms")
    visible = [
        (category, start, end)
        for category, spans in queries.objects(video, part).values_list("category", "spans")
        for start, end in spans
    ]
    gaps = queries.chunks(video, Narrowing(gap=True)).values_list("gap", "start_ms", "end_ms")
    return {
        "video_id": video.id,
        "index_version": video.active_index_version,
        "duration_ms": video.duration_ms,
        "resolution_ms": resolution,
        "events": _lane("id", events),
        "topics": _lane("title", topics),
        "speech": _lane("track", joined(lines, resolution)),
        "objects": _lane("category", joined(visible, resolution)),
        "gaps": _lane("code", joined(gaps, 0)),
    }


def joined(stretches: Iterable[tuple[Key, int, int]], apart_ms: int) -> list[tuple[Key, int, int]]:
    """Return the stretches of each key with those that are at most apart_ms apart made one, by time."""
    whole: list[tuple[Key, int, int]] = []
    last: dict[Key, int] = {}
    for key, start, end in sorted(stretches, key=lambda stretch: stretch[1:]):
        place = last.get(key)
        if place is not None and start - whole[place][2] <= apart_ms:
            whole[place] = (key, whole[place][1], max(end, whole[place][2]))
        else:
            last[key] = len(whole)
            whole.append((key, start, end))
    return whole


def _lane(name: str, rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    keys, starts, ends = ([*column] for column in zip(*rows, strict=True)) if (rows := list(rows)) else ([], [], [])
    return {name: keys, "start_ms": starts, "end_ms": ends}
