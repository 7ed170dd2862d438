from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ChargeSpan")


@_attrs_define
class ChargeSpan:
    """What the work will be charged, by the list price in force.

    Attributes:
        low (str):
        expected (str):
        high (str):
        currency (str): Currency by its ISO 4217 code.
    """

    low: str
    expected: str
    high: str
    currency: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        low = self.low

        expected = self.expected

        high = self.high

        currency = self.currency

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "low": low,
                "expected": expected,
                "high": high,
                "currency": currency,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        low = d.pop("low")

        expected = d.pop("expected")

        high = d.pop("high")

        currency = d.pop("currency")

        charge_span = cls(
            low=low,
            expected=expected,
            high=high,
            currency=currency,
        )

        charge_span.additional_properties = d
        return charge_span

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
