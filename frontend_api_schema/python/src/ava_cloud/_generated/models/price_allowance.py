from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PriceAllowance")


@_attrs_define
class PriceAllowance:
    """Units that each month includes.

    Attributes:
        meter (str): What is counted. Known values: `media_seconds`, `live_seconds`, `questions`, `searches`,
            `comparisons`, `storage_gb_hours`, `egress_gb`, `input_tokens`, `output_tokens`, `device_seconds`. Others may
            follow.
        variant (str): As in a price.
        quantity (str): Units per month, as an exact decimal.
    """

    meter: str
    variant: str
    quantity: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        meter = self.meter

        variant = self.variant

        quantity = self.quantity

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "meter": meter,
                "variant": variant,
                "quantity": quantity,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        meter = d.pop("meter")

        variant = d.pop("variant")

        quantity = d.pop("quantity")

        price_allowance = cls(
            meter=meter,
            variant=variant,
            quantity=quantity,
        )

        price_allowance.additional_properties = d
        return price_allowance

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
