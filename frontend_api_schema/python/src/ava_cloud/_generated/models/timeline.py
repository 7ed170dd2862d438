from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.timeline_events import TimelineEvents
    from ..models.timeline_gaps import TimelineGaps
    from ..models.timeline_objects import TimelineObjects
    from ..models.timeline_speech import TimelineSpeech
    from ..models.timeline_topics import TimelineTopics


T = TypeVar("T", bound="Timeline")


@_attrs_define
class Timeline:
    """The n-th entries of all arrays of a lane belong together.

    Attributes:
        video_id (str):
        index_version (int):
        duration_ms (int | None):
        resolution_ms (int): Stretches of speech and objects that are no further apart than this are one.
        events (TimelineEvents):
        topics (TimelineTopics):
        speech (TimelineSpeech):
        objects (TimelineObjects):
        gaps (TimelineGaps):
    """

    video_id: str
    index_version: int
    duration_ms: int | None
    resolution_ms: int
    events: TimelineEvents
    topics: TimelineTopics
    speech: TimelineSpeech
    objects: TimelineObjects
    gaps: TimelineGaps
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        index_version = self.index_version

        duration_ms: int | None
        duration_ms = self.duration_ms

        resolution_ms = self.resolution_ms

        events = self.events.to_dict()

        topics = self.topics.to_dict()

        speech = self.speech.to_dict()

        objects = self.objects.to_dict()

        gaps = self.gaps.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "index_version": index_version,
                "duration_ms": duration_ms,
                "resolution_ms": resolution_ms,
                "events": events,
                "topics": topics,
                "speech": speech,
                "objects": objects,
                "gaps": gaps,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.timeline_events import TimelineEvents  # noqa: PLC0415
        from ..models.timeline_gaps import TimelineGaps  # noqa: PLC0415
        from ..models.timeline_objects import TimelineObjects  # noqa: PLC0415
        from ..models.timeline_speech import TimelineSpeech  # noqa: PLC0415
        from ..models.timeline_topics import TimelineTopics  # noqa: PLC0415

        d = dict(src_dict)
        video_id = d.pop("video_id")

        index_version = d.pop("index_version")

        def _parse_duration_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        duration_ms = _parse_duration_ms(d.pop("duration_ms"))

        resolution_ms = d.pop("resolution_ms")

        events = TimelineEvents.from_dict(d.pop("events"))

        topics = TimelineTopics.from_dict(d.pop("topics"))

        speech = TimelineSpeech.from_dict(d.pop("speech"))

        objects = TimelineObjects.from_dict(d.pop("objects"))

        gaps = TimelineGaps.from_dict(d.pop("gaps"))

        timeline = cls(
            video_id=video_id,
            index_version=index_version,
            duration_ms=duration_ms,
            resolution_ms=resolution_ms,
            events=events,
            topics=topics,
            speech=speech,
            objects=objects,
            gaps=gaps,
        )

        timeline.additional_properties = d
        return timeline

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
