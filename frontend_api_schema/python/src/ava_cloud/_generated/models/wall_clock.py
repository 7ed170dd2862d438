from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.clock_stretch import ClockStretch
    from ..models.contradiction import Contradiction


T = TypeVar("T", bound="WallClock")


@_attrs_define
class WallClock:
    """When each part of the video was filmed: by what you said, else by the clock in the picture.

    Attributes:
        stretches (list[ClockStretch]): In order of the video; there may be gaps between them.
        contradictions (list[Contradiction]):
    """

    stretches: list[ClockStretch]
    contradictions: list[Contradiction]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        stretches = []
        for stretches_item_data in self.stretches:
            stretches_item = stretches_item_data.to_dict()
            stretches.append(stretches_item)

        contradictions = []
        for contradictions_item_data in self.contradictions:
            contradictions_item = contradictions_item_data.to_dict()
            contradictions.append(contradictions_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "stretches": stretches,
                "contradictions": contradictions,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.clock_stretch import ClockStretch  # noqa: PLC0415
        from ..models.contradiction import Contradiction  # noqa: PLC0415

        d = dict(src_dict)
        stretches = []
        _stretches = d.pop("stretches")
        for stretches_item_data in _stretches:
            stretches_item = ClockStretch.from_dict(stretches_item_data)

            stretches.append(stretches_item)

        contradictions = []
        _contradictions = d.pop("contradictions")
        for contradictions_item_data in _contradictions:
            contradictions_item = Contradiction.from_dict(contradictions_item_data)

            contradictions.append(contradictions_item)

        wall_clock = cls(
            stretches=stretches,
            contradictions=contradictions,
        )

        wall_clock.additional_properties = d
        return wall_clock

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
