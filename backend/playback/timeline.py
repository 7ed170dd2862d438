"""The timeline of a video in one reply: arrays by field, coarse enough for a screen and whole for ten hours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from rest_framework import serializers

from backend.api.bodies import MAX_TIME_MS, NamesField, TimeSpanSerializer
from backend.api.public_ids import PublicIdField
from backend.ekg import queries
from backend.ekg.queries import Narrowing
from backend.library.models import Video

POINTS = 2_000
"""Number of stretches that a screen can show apart: speech and objects closer than this share of the part are one."""
FINEST_MS = 1_000
"""Smallest resolution that the service chooses."""

Key = TypeVar("Key")
Columns = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Part:
    """What a timeline is read of: this part of the video, this coarse, and with what events say or without it."""

    narrowing: Narrowing
    resolution_ms: int
    summaries: bool

    def shows(self, start_ms: int, end_ms: int) -> bool:
        """Whether a stretch overlaps the part."""
        begin, end = self.narrowing.start_ms, self.narrowing.end_ms
        return end_ms > (begin or 0) and (end is None or start_ms < end)


class _TimesSerializer(serializers.Serializer[Any]):
    start_ms = serializers.ListField(child=serializers.IntegerField())
    end_ms = serializers.ListField(child=serializers.IntegerField())


class TimelineEventsSerializer(_TimesSerializer):
    id = serializers.ListField(child=PublicIdField("evt"))
    summary = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Only with `include=summaries`."
    )


class TimelineTopicsSerializer(_TimesSerializer):
    title = serializers.ListField(child=serializers.CharField())


class TimelineSpeechSerializer(_TimesSerializer):
    track = serializers.ListField(child=serializers.IntegerField(), help_text="Number of the audio track, from 1.")


class TimelineObjectsSerializer(_TimesSerializer):
    category = serializers.ListField(child=serializers.CharField())


class TimelineEntitiesSerializer(_TimesSerializer):
    entity_id = serializers.ListField(child=PublicIdField("ent"))


class TimelineGapsSerializer(_TimesSerializer):
    code = serializers.ListField(child=serializers.CharField())


class TimelineSerializer(serializers.Serializer[Any]):
    """The n-th entries of all arrays of a lane belong together. A lane that was not asked for is absent."""

    video_id = PublicIdField("vid")
    index_version = serializers.IntegerField()
    indexed_until_ms = serializers.IntegerField(
        help_text="Everything before this time is indexed. While the video grows, ask for the rest with this "
        "`start_ms`."
    )
    duration_ms = serializers.IntegerField(allow_null=True)
    resolution_ms = serializers.IntegerField(
        help_text="Stretches of speech, objects and entities that are no further apart than this are one."
    )
    events = TimelineEventsSerializer(required=False)
    topics = TimelineTopicsSerializer(required=False, help_text="Topics of the whole video, whatever the part.")
    speech = TimelineSpeechSerializer(required=False)
    objects = TimelineObjectsSerializer(required=False, help_text="When at least one object of a category is visible.")
    entities = TimelineEntitiesSerializer(required=False, help_text="When an entity takes part in an event.")
    gaps = TimelineGapsSerializer(required=False, help_text="Parts that could not be described, with their codes.")


def _events(video: Video, part: Part) -> Columns:
    rows = queries.events(video, part.narrowing).order_by("n")
    columns = _lane("id", rows.values_list("id", "start_ms", "end_ms"))
    if part.summaries:
        columns["summary"] = list(rows.values_list("summary", flat=True))
    return columns


def _topics(video: Video, part: Part) -> Columns:
    """Return all topics: they are few, and written after the events that they are about."""
    return _lane("title", queries.topics(video).order_by("n").values_list("title", "start_ms", "end_ms"))


def _speech(video: Video, part: Part) -> Columns:
    rows = queries.transcript(video, part.narrowing).values_list("track", "start_ms", "end_ms")
    return _lane("track", joined(rows, part.resolution_ms))


def _objects(video: Video, part: Part) -> Columns:
    rows = queries.objects(video, part.narrowing).values_list("category", "spans")
    visible = [(category, *span) for category, spans in rows for span in spans if part.shows(*span)]
    return _lane("category", joined(visible, part.resolution_ms))


def _entities(video: Video, part: Part) -> Columns:
    return _lane("entity_id", joined(queries.stretches_of_entities(video, part.narrowing), part.resolution_ms))


def _gaps(video: Video, part: Part) -> Columns:
    rows = queries.chunks(video, replace(part.narrowing, gap=True)).values_list("gap", "start_ms", "end_ms")
    return _lane("code", joined(rows, 0))


LANES: Mapping[str, Callable[[Video, Part], Columns]] = {
    "events": _events,
    "topics": _topics,
    "speech": _speech,
    "objects": _objects,
    "gaps": _gaps,
    "entities": _entities,
}
"""How the columns of each lane are read."""
USUAL_LANES = tuple(lane for lane in LANES if lane != "entities")
"""Lanes of a request that names none: a video has hundreds of entities, and a page shows few of them."""


class TimelineQuerySerializer(TimeSpanSerializer):
    lanes = NamesField(
        tuple(LANES),
        code="unknown_lane",
        required=False,
        help_text=f"Comma-separated lanes out of {', '.join(LANES)}; by default all but entities.",
    )
    resolution_ms = serializers.IntegerField(
        min_value=0,
        max_value=MAX_TIME_MS,
        required=False,
        help_text="Joins stretches of speech, objects and entities that are no further apart than this. By default a "
        f"{POINTS:,}th of the part, and at least a second.",
    )
    include = serializers.ChoiceField(
        choices=["summaries"], required=False, help_text="`summaries` adds what each event says."
    )


def timeline_body(
    video: Video,
    *,
    lanes: Sequence[str] = USUAL_LANES,
    start_ms: int | None = None,
    end_ms: int | None = None,
    resolution_ms: int | None = None,
    include: str = "",
) -> dict[str, Any]:
    """Return the timeline of a part of the active index, inside the open tenant_scope."""
    length = (end_ms or video.duration_ms or 0) - (start_ms or 0)
    resolution = max(FINEST_MS, length // POINTS) if resolution_ms is None else resolution_ms
    part = Part(Narrowing(start_ms=start_ms, end_ms=end_ms), resolution, include == "summaries")
    return {
        "video_id": video.id,
        "index_version": video.active_index_version,
        "indexed_until_ms": video.indexed_until_ms,
        "duration_ms": video.duration_ms,
        "resolution_ms": resolution,
        **{lane: LANES[lane](video, part) for lane in lanes},
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
