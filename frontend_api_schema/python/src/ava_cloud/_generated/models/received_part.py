from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ReceivedPart")


@_attrs_define
class ReceivedPart:
    """
    Attributes:
        part_number (int):
        etag (str):
        size_bytes (int):
        sha256 (str):
    """

    part_number: int
    etag: str
    size_bytes: int
    sha256: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        part_number = self.part_number

        etag = self.etag

        size_bytes = self.size_bytes

        sha256 = self.sha256

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "part_number": part_number,
                "etag": etag,
                "size_bytes": size_bytes,
                "sha256": sha256,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        part_number = d.pop("part_number")

        etag = d.pop("etag")

        size_bytes = d.pop("size_bytes")

        sha256 = d.pop("sha256")

        received_part = cls(
            part_number=part_number,
            etag=etag,
            size_bytes=size_bytes,
            sha256=sha256,
        )

        received_part.additional_properties = d
        return received_part

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
