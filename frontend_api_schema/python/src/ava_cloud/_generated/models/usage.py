from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.usage_line import UsageLine
    from ..models.usage_totals import UsageTotals


T = TypeVar("T", bound="Usage")


@_attrs_define
class Usage:
    """Usage of a span of time, summed up by groups and meters.

    Attributes:
        object_ (str): Always `usage`. Default: 'usage'.
        start_at (datetime.datetime): Begin of the span.
        end_at (datetime.datetime): End of the span, not included.
        group_by (list[str]): What the lines are grouped by.
        data (list[UsageLine]): One line for each group and meter.
        next_cursor (None | str): `cursor` of the next page; null on the last one.
        totals (UsageTotals): Sums over all lines.
    """

    start_at: datetime.datetime
    end_at: datetime.datetime
    group_by: list[str]
    data: list[UsageLine]
    next_cursor: None | str
    totals: UsageTotals
    object_: str = "usage"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_ = self.object_

        start_at = self.start_at.isoformat()

        end_at = self.end_at.isoformat()

        group_by = self.group_by

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        next_cursor: None | str
        next_cursor = self.next_cursor

        totals = self.totals.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "start_at": start_at,
                "end_at": end_at,
                "group_by": group_by,
                "data": data,
                "next_cursor": next_cursor,
                "totals": totals,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.usage_line import UsageLine  # noqa: PLC0415
        from ..models.usage_totals import UsageTotals  # noqa: PLC0415

        d = dict(src_dict)
        object_ = d.pop("object")

        start_at = datetime.datetime.fromisoformat(d.pop("start_at"))

        end_at = datetime.datetime.fromisoformat(d.pop("end_at"))

        group_by = cast(list[str], d.pop("group_by"))

        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = UsageLine.from_dict(data_item_data)

            data.append(data_item)

        def _parse_next_cursor(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        next_cursor = _parse_next_cursor(d.pop("next_cursor"))

        totals = UsageTotals.from_dict(d.pop("totals"))

        usage = cls(
            object_=object_,
            start_at=start_at,
            end_at=end_at,
            group_by=group_by,
            data=data,
            next_cursor=next_cursor,
            totals=totals,
        )

        usage.additional_properties = d
        return usage

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
