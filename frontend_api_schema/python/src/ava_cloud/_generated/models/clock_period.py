from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ClockPeriod")


@_attrs_define
class ClockPeriod:
    """A part of the video in which the clock runs on without a jump.

    Attributes:
        from_ms (int): Start of the period. It ends where the next period starts.
        at_start (str): What the clock shows at from_ms: an ISO date and time, or only the time of day.
    """

    from_ms: int
    at_start: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from_ms = self.from_ms

        at_start = self.at_start

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "from_ms": from_ms,
                "at_start": at_start,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        from_ms = d.pop("from_ms")

        at_start = d.pop("at_start")

        clock_period = cls(
            from_ms=from_ms,
            at_start=at_start,
        )

        clock_period.additional_properties = d
        return clock_period

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
