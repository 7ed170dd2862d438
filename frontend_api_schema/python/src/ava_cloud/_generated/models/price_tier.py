from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PriceTier")


@_attrs_define
class PriceTier:
    """The amount of a unit after a quantity in a month. Replaces the price of the meter.

    Attributes:
        meter (str): What is counted. Known values: `media_seconds`, `live_seconds`, `questions`, `searches`,
            `comparisons`, `storage_gb_hours`, `egress_gb`, `input_tokens`, `output_tokens`, `device_seconds`. Others may
            follow.
        variant (str): As in a price.
        mode (str): `graduated`: each unit costs the amount of its own tier. `volume`: all units cost the amount of the
            last tier that is reached.
        from_quantity (str): Units after the allowance from which the tier applies.
        unit_amount (str): Amount of one unit, as an exact decimal.
    """

    meter: str
    variant: str
    mode: str
    from_quantity: str
    unit_amount: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        meter = self.meter

        variant = self.variant

        mode = self.mode

        from_quantity = self.from_quantity

        unit_amount = self.unit_amount

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "meter": meter,
                "variant": variant,
                "mode": mode,
                "from_quantity": from_quantity,
                "unit_amount": unit_amount,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        meter = d.pop("meter")

        variant = d.pop("variant")

        mode = d.pop("mode")

        from_quantity = d.pop("from_quantity")

        unit_amount = d.pop("unit_amount")

        price_tier = cls(
            meter=meter,
            variant=variant,
            mode=mode,
            from_quantity=from_quantity,
            unit_amount=unit_amount,
        )

        price_tier.additional_properties = d
        return price_tier

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
