from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Charge")


@_attrs_define
class Charge:
    """What is charged, by the price list. Allowances, tiers, credits and tax are lines of the invoice.

    Attributes:
        amount (str): Amount as an exact decimal.
        currency (str): Currency by its ISO 4217 code.
        price_version (int | None): Version of the price, as `GET /v1/prices` lists it; null if nothing is charged.
    """

    amount: str
    currency: str
    price_version: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        amount = self.amount

        currency = self.currency

        price_version: int | None
        price_version = self.price_version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "amount": amount,
                "currency": currency,
                "price_version": price_version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        amount = d.pop("amount")

        currency = d.pop("currency")

        def _parse_price_version(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        price_version = _parse_price_version(d.pop("price_version"))

        charge = cls(
            amount=amount,
            currency=currency,
            price_version=price_version,
        )

        charge.additional_properties = d
        return charge

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
