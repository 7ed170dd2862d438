from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.usage_charge import UsageCharge


T = TypeVar("T", bound="UsageTotals")


@_attrs_define
class UsageTotals:
    """Sums over all lines.

    Attributes:
        charges (list[UsageCharge]): What the usage is charged, one amount for each currency; empty without usage.
    """

    charges: list[UsageCharge]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        charges = []
        for charges_item_data in self.charges:
            charges_item = charges_item_data.to_dict()
            charges.append(charges_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "charges": charges,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.usage_charge import UsageCharge  # noqa: PLC0415

        d = dict(src_dict)
        charges = []
        _charges = d.pop("charges")
        for charges_item_data in _charges:
            charges_item = UsageCharge.from_dict(charges_item_data)

            charges.append(charges_item)

        usage_totals = cls(
            charges=charges,
        )

        usage_totals.additional_properties = d
        return usage_totals

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
