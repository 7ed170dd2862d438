from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.clock_period import ClockPeriod


T = TypeVar("T", bound="VideoClock")


@_attrs_define
class VideoClock:
    """The clock in the picture as a function of the video's time.

    Attributes:
        at_zero (str): What the clock shows at 0 ms: an ISO date and time, or only the time of day.
        readings (int): Number of moments whose readings agree.
        periods (list[ClockPeriod]): One period for each offset of the clock, in order of time: the clock jumps at a
            pause of the recording, at a change to summer time and where files were joined.
    """

    at_zero: str
    readings: int
    periods: list[ClockPeriod]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at_zero = self.at_zero

        readings = self.readings

        periods = []
        for periods_item_data in self.periods:
            periods_item = periods_item_data.to_dict()
            periods.append(periods_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at_zero": at_zero,
                "readings": readings,
                "periods": periods,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.clock_period import ClockPeriod  # noqa: PLC0415

        d = dict(src_dict)
        at_zero = d.pop("at_zero")

        readings = d.pop("readings")

        periods = []
        _periods = d.pop("periods")
        for periods_item_data in _periods:
            periods_item = ClockPeriod.from_dict(periods_item_data)

            periods.append(periods_item)

        video_clock = cls(
            at_zero=at_zero,
            readings=readings,
            periods=periods,
        )

        video_clock.additional_properties = d
        return video_clock

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
