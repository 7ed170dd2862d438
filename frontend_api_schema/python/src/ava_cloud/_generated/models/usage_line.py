from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.usage_charge import UsageCharge
    from ..models.usage_line_group import UsageLineGroup


T = TypeVar("T", bound="UsageLine")


@_attrs_define
class UsageLine:
    """Usage of one meter within one group.

    Attributes:
        group (UsageLineGroup): Values of the group by the names in `group_by`.
        meter (str): What was measured. Known values: `media_seconds`, `live_seconds`, `questions`, `searches`,
            `comparisons`, `storage_gb_hours`, `egress_gb`, `input_tokens`, `output_tokens`, `device_seconds`. Others may
            follow.
        quantity (str): Quantity as an exact decimal, in the meter's unit.
        events (int): Number of ledger rows.
        charge (UsageCharge): An amount of money by the price list.
    """

    group: UsageLineGroup
    meter: str
    quantity: str
    events: int
    charge: UsageCharge
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        group = self.group.to_dict()

        meter = self.meter

        quantity = self.quantity

        events = self.events

        charge = self.charge.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "group": group,
                "meter": meter,
                "quantity": quantity,
                "events": events,
                "charge": charge,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.usage_charge import UsageCharge  # noqa: PLC0415
        from ..models.usage_line_group import UsageLineGroup  # noqa: PLC0415

        d = dict(src_dict)
        group = UsageLineGroup.from_dict(d.pop("group"))

        meter = d.pop("meter")

        quantity = d.pop("quantity")

        events = d.pop("events")

        charge = UsageCharge.from_dict(d.pop("charge"))

        usage_line = cls(
            group=group,
            meter=meter,
            quantity=quantity,
            events=events,
            charge=charge,
        )

        usage_line.additional_properties = d
        return usage_line

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
