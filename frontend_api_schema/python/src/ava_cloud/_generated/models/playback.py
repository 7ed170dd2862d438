from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.playback_segment import PlaybackSegment


T = TypeVar("T", bound="Playback")


@_attrs_define
class Playback:
    """
    Attributes:
        url (None | str): URL of the whole recording, with range requests; null if the recording consists of segments.
        segments (list[PlaybackSegment]): The files of the recording that overlap start_ms to end_ms, in order of time;
            at most 500.
        expires_at (datetime.datetime):
    """

    url: None | str
    segments: list[PlaybackSegment]
    expires_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        url: None | str
        url = self.url

        segments = []
        for segments_item_data in self.segments:
            segments_item = segments_item_data.to_dict()
            segments.append(segments_item)

        expires_at = self.expires_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "url": url,
                "segments": segments,
                "expires_at": expires_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.playback_segment import PlaybackSegment  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        url = _parse_url(d.pop("url"))

        segments = []
        _segments = d.pop("segments")
        for segments_item_data in _segments:
            segments_item = PlaybackSegment.from_dict(segments_item_data)

            segments.append(segments_item)

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        playback = cls(
            url=url,
            segments=segments,
            expires_at=expires_at,
        )

        playback.additional_properties = d
        return playback

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
