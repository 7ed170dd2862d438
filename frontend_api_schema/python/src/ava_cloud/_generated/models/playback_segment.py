from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PlaybackSegment")


@_attrs_define
class PlaybackSegment:
    """
    Attributes:
        url (str):
        start_ms (int):
        end_ms (int):
    """

    url: str
    start_ms: int
    end_ms: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        start_ms = self.start_ms

        end_ms = self.end_ms

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "url": url,
                "start_ms": start_ms,
                "end_ms": end_ms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        url = d.pop("url")

        start_ms = d.pop("start_ms")

        end_ms = d.pop("end_ms")

        playback_segment = cls(
            url=url,
            start_ms=start_ms,
            end_ms=end_ms,
        )

        playback_segment.additional_properties = d
        return playback_segment

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
