from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ClipGap")


@_attrs_define
class ClipGap:
    """Where recordings with a gap between them are joined.

    Attributes:
        at_ms (int): Time in the video at which the recording goes on after the gap.
        gap_ms (int | None): Time that was not recorded; null if unknown.
    """

    at_ms: int
    gap_ms: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at_ms = self.at_ms

        gap_ms: int | None
        gap_ms = self.gap_ms

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at_ms": at_ms,
                "gap_ms": gap_ms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        at_ms = d.pop("at_ms")

        def _parse_gap_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        gap_ms = _parse_gap_ms(d.pop("gap_ms"))

        clip_gap = cls(
            at_ms=at_ms,
            gap_ms=gap_ms,
        )

        clip_gap.additional_properties = d
        return clip_gap

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
