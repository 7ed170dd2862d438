from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.linked_entity import LinkedEntity


T = TypeVar("T", bound="TrackedObject")


@_attrs_define
class TrackedObject:
    """One person or thing over the whole video: its tracks, joined by position, time and appearance.

    Attributes:
        id (str):
        n (int): Index in the order of first appearance, from 0.
        category (str):
        colour (str):
        start_ms (int):
        end_ms (int):
        start_at (datetime.datetime | None): When it was filmed, in the video's time zone; null if unknown.
        end_at (datetime.datetime | None): When it ended, in the video's time zone; null if unknown.
        spans (list[list[int]]): Lists of `start_ms` and `end_ms` between which the object is visible.
        segments (list[int]):
        tracks (int):
        observations (int): Number of frames in which the object was found.
        entries (int): How often the object entered over the border of the frame.
        exits (int):
        confidence (float): Confidence that this is one object, and none of the other listed objects.
        entities (list[LinkedEntity]): Entities that are this object, the surest first.
        thumbnail_url (None | str): A frame from the middle of the longest visible span.
    """

    id: str
    n: int
    category: str
    colour: str
    start_ms: int
    end_ms: int
    start_at: datetime.datetime | None
    end_at: datetime.datetime | None
    spans: list[list[int]]
    segments: list[int]
    tracks: int
    observations: int
    entries: int
    exits: int
    confidence: float
    entities: list[LinkedEntity]
    thumbnail_url: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        n = self.n

        category = self.category

        colour = self.colour

        start_ms = self.start_ms

        end_ms = self.end_ms

        start_at: None | str
        if isinstance(self.start_at, datetime.datetime):
            start_at = self.start_at.isoformat()
        else:
            start_at = self.start_at

        end_at: None | str
        if isinstance(self.end_at, datetime.datetime):
            end_at = self.end_at.isoformat()
        else:
            end_at = self.end_at

        spans = []
        for spans_item_data in self.spans:
            spans_item = spans_item_data

            spans.append(spans_item)

        segments = self.segments

        tracks = self.tracks

        observations = self.observations

        entries = self.entries

        exits = self.exits

        confidence = self.confidence

        entities = []
        for entities_item_data in self.entities:
            entities_item = entities_item_data.to_dict()
            entities.append(entities_item)

        thumbnail_url: None | str
        thumbnail_url = self.thumbnail_url

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "n": n,
                "category": category,
                "colour": colour,
                "start_ms": start_ms,
                "end_ms": end_ms,
                "start_at": start_at,
                "end_at": end_at,
                "spans": spans,
                "segments": segments,
                "tracks": tracks,
                "observations": observations,
                "entries": entries,
                "exits": exits,
                "confidence": confidence,
                "entities": entities,
                "thumbnail_url": thumbnail_url,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.linked_entity import LinkedEntity  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        n = d.pop("n")

        category = d.pop("category")

        colour = d.pop("colour")

        start_ms = d.pop("start_ms")

        end_ms = d.pop("end_ms")

        def _parse_start_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                start_at_type_0 = datetime.datetime.fromisoformat(data)

                return start_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        start_at = _parse_start_at(d.pop("start_at"))

        def _parse_end_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                end_at_type_0 = datetime.datetime.fromisoformat(data)

                return end_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        end_at = _parse_end_at(d.pop("end_at"))

        spans = []
        _spans = d.pop("spans")
        for spans_item_data in _spans:
            spans_item = cast(list[int], spans_item_data)

            spans.append(spans_item)

        segments = cast(list[int], d.pop("segments"))

        tracks = d.pop("tracks")

        observations = d.pop("observations")

        entries = d.pop("entries")

        exits = d.pop("exits")

        confidence = d.pop("confidence")

        entities = []
        _entities = d.pop("entities")
        for entities_item_data in _entities:
            entities_item = LinkedEntity.from_dict(entities_item_data)

            entities.append(entities_item)

        def _parse_thumbnail_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        thumbnail_url = _parse_thumbnail_url(d.pop("thumbnail_url"))

        tracked_object = cls(
            id=id,
            n=n,
            category=category,
            colour=colour,
            start_ms=start_ms,
            end_ms=end_ms,
            start_at=start_at,
            end_at=end_at,
            spans=spans,
            segments=segments,
            tracks=tracks,
            observations=observations,
            entries=entries,
            exits=exits,
            confidence=confidence,
            entities=entities,
            thumbnail_url=thumbnail_url,
        )

        tracked_object.additional_properties = d
        return tracked_object

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
