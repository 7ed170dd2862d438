from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="FrameImage")


@_attrs_define
class FrameImage:
    """A frame of a video, from a row with frame_ms and frame_key; null if the row has no frame.

    Attributes:
        ms (int): Time of the frame in its video, in milliseconds.
        thumbnail_url (None | str): Link to the picture, valid for 30 minutes. Null if the picture is not kept.
    """

    ms: int
    thumbnail_url: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ms = self.ms

        thumbnail_url: None | str
        thumbnail_url = self.thumbnail_url

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ms": ms,
                "thumbnail_url": thumbnail_url,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ms = d.pop("ms")

        def _parse_thumbnail_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        thumbnail_url = _parse_thumbnail_url(d.pop("thumbnail_url"))

        frame_image = cls(
            ms=ms,
            thumbnail_url=thumbnail_url,
        )

        frame_image.additional_properties = d
        return frame_image

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
