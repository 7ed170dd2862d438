from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="VideoSource")


@_attrs_define
class VideoSource:
    """
    Attributes:
        type_ (str): Known values: `upload`, `url`, `segments`. Others may follow.
        state (str): `open`: more segments may be appended. Known values: `open`, `closed`. Others may follow.
        segments (int | None): Number of segments appended so far; null for an upload.
    """

    type_: str
    state: str
    segments: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        state = self.state

        segments: int | None
        segments = self.segments

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "state": state,
                "segments": segments,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = d.pop("type")

        state = d.pop("state")

        def _parse_segments(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        segments = _parse_segments(d.pop("segments"))

        video_source = cls(
            type_=type_,
            state=state,
            segments=segments,
        )

        video_source.additional_properties = d
        return video_source

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
