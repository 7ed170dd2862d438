from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PinnedVideo")


@_attrs_define
class PinnedVideo:
    """A video of a comparison, with what every arm reads of it.

    Attributes:
        video_id (str): Id of the video.
        index_version (int): Number of the index version that every arm reads.
        indexed_until_ms (int): How far the video was indexed when the comparison was made, in milliseconds. No arm
            reads further.
    """

    video_id: str
    index_version: int
    indexed_until_ms: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        index_version = self.index_version

        indexed_until_ms = self.indexed_until_ms

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "index_version": index_version,
                "indexed_until_ms": indexed_until_ms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        video_id = d.pop("video_id")

        index_version = d.pop("index_version")

        indexed_until_ms = d.pop("indexed_until_ms")

        pinned_video = cls(
            video_id=video_id,
            index_version=index_version,
            indexed_until_ms=indexed_until_ms,
        )

        pinned_video.additional_properties = d
        return pinned_video

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
