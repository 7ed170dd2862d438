from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.timeline_entities import TimelineEntities
    from ..models.timeline_events import TimelineEvents
    from ..models.timeline_gaps import TimelineGaps
    from ..models.timeline_objects import TimelineObjects
    from ..models.timeline_speech import TimelineSpeech
    from ..models.timeline_topics import TimelineTopics


T = TypeVar("T", bound="Timeline")


@_attrs_define
class Timeline:
    """The n-th entries of all arrays of a lane belong together. A lane that was not asked for is absent.

    Attributes:
        video_id (str):
        index_version (int):
        indexed_until_ms (int): Everything before this time is indexed. While the video grows, ask for the rest with
            this `start_ms`.
        duration_ms (int | None):
        resolution_ms (int): Stretches of speech, objects and entities that are no further apart than this are one.
        events (TimelineEvents | Unset):
        topics (TimelineTopics | Unset):
        speech (TimelineSpeech | Unset):
        objects (TimelineObjects | Unset):
        entities (TimelineEntities | Unset):
        gaps (TimelineGaps | Unset):
    """

    video_id: str
    index_version: int
    indexed_until_ms: int
    duration_ms: int | None
    resolution_ms: int
    events: TimelineEvents | Unset = UNSET
    topics: TimelineTopics | Unset = UNSET
    speech: TimelineSpeech | Unset = UNSET
    objects: TimelineObjects | Unset = UNSET
    entities: TimelineEntities | Unset = UNSET
    gaps: TimelineGaps | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        index_version = self.index_version

        indexed_until_ms = self.indexed_until_ms

        duration_ms: int | None
        duration_ms = self.duration_ms

        resolution_ms = self.resolution_ms

        events: dict[str, Any] | Unset = UNSET
        if not isinstance(self.events, Unset):
            events = self.events.to_dict()

        topics: dict[str, Any] | Unset = UNSET
        if not isinstance(self.topics, Unset):
            topics = self.topics.to_dict()

        speech: dict[str, Any] | Unset = UNSET
        if not isinstance(self.speech, Unset):
            speech = self.speech.to_dict()

        objects: dict[str, Any] | Unset = UNSET
        if not isinstance(self.objects, Unset):
            objects = self.objects.to_dict()

        entities: dict[str, Any] | Unset = UNSET
        if not isinstance(self.entities, Unset):
            entities = self.entities.to_dict()

        gaps: dict[str, Any] | Unset = UNSET
        if not isinstance(self.gaps, Unset):
            gaps = self.gaps.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "index_version": index_version,
                "indexed_until_ms": indexed_until_ms,
                "duration_ms": duration_ms,
                "resolution_ms": resolution_ms,
            }
        )
        if events is not UNSET:
            field_dict["events"] = events
        if topics is not UNSET:
            field_dict["topics"] = topics
        if speech is not UNSET:
            field_dict["speech"] = speech
        if objects is not UNSET:
            field_dict["objects"] = objects
        if entities is not UNSET:
            field_dict["entities"] = entities
        if gaps is not UNSET:
            field_dict["gaps"] = gaps

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.timeline_entities import TimelineEntities  # noqa: PLC0415
        from ..models.timeline_events import TimelineEvents  # noqa: PLC0415
        from ..models.timeline_gaps import TimelineGaps  # noqa: PLC0415
        from ..models.timeline_objects import TimelineObjects  # noqa: PLC0415
        from ..models.timeline_speech import TimelineSpeech  # noqa: PLC0415
        from ..models.timeline_topics import TimelineTopics  # noqa: PLC0415

        d = dict(src_dict)
        video_id = d.pop("video_id")

        index_version = d.pop("index_version")

        indexed_until_ms = d.pop("indexed_until_ms")

        def _parse_duration_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        duration_ms = _parse_duration_ms(d.pop("duration_ms"))

        resolution_ms = d.pop("resolution_ms")

        _events = d.pop("events", UNSET)
        events: TimelineEvents | Unset
        if isinstance(_events, Unset):
            events = UNSET
        else:
            events = TimelineEvents.from_dict(_events)

        _topics = d.pop("topics", UNSET)
        topics: TimelineTopics | Unset
        if isinstance(_topics, Unset):
            topics = UNSET
        else:
            topics = TimelineTopics.from_dict(_topics)

        _speech = d.pop("speech", UNSET)
        speech: TimelineSpeech | Unset
        if isinstance(_speech, Unset):
            speech = UNSET
        else:
            speech = TimelineSpeech.from_dict(_speech)

        _objects = d.pop("objects", UNSET)
        objects: TimelineObjects | Unset
        if isinstance(_objects, Unset):
            objects = UNSET
        else:
            objects = TimelineObjects.from_dict(_objects)

        _entities = d.pop("entities", UNSET)
        entities: TimelineEntities | Unset
        if isinstance(_entities, Unset):
            entities = UNSET
        else:
            entities = TimelineEntities.from_dict(_entities)

        _gaps = d.pop("gaps", UNSET)
        gaps: TimelineGaps | Unset
        if isinstance(_gaps, Unset):
            gaps = UNSET
        else:
            gaps = TimelineGaps.from_dict(_gaps)

        timeline = cls(
            video_id=video_id,
            index_version=index_version,
            indexed_until_ms=indexed_until_ms,
            duration_ms=duration_ms,
            resolution_ms=resolution_ms,
            events=events,
            topics=topics,
            speech=speech,
            objects=objects,
            entities=entities,
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
