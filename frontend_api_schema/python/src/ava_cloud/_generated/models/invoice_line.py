from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="InvoiceLine")


@_attrs_define
class InvoiceLine:
    """One line of a document.

    Attributes:
        line (int): Position of the line, counted from 1.
        kind (str): `usage`, `allowance`, `tier`, `trial`, `minimum`, `coupon` or `correction`.
        meter (str): What was metered; empty if the line is not of a meter.
        variant (str): Variant of the price, such as `ava:low`; empty for any.
        price_version (int | None): Version of the price, or null.
        unit_amount (None | str): Price of one unit, or null.
        quantity (str): Units of the meter.
        exact_amount (str): Amount before it was rounded.
        amount (str): Amount in the smallest unit of the currency.
        late (bool): Whether the usage belongs to a month that was invoiced before.
        usage_start (datetime.datetime | None): Start of the month of the usage, or null.
        description (str): Additional text of the line.
    """

    line: int
    kind: str
    meter: str
    variant: str
    price_version: int | None
    unit_amount: None | str
    quantity: str
    exact_amount: str
    amount: str
    late: bool
    usage_start: datetime.datetime | None
    description: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        line = self.line

        kind = self.kind

        meter = self.meter

        variant = self.variant

        price_version: int | None
        price_version = self.price_version

        unit_amount: None | str
        unit_amount = self.unit_amount

        quantity = self.quantity

        exact_amount = self.exact_amount

        amount = self.amount

        late = self.late

        usage_start: None | str
        if isinstance(self.usage_start, datetime.datetime):
            usage_start = self.usage_start.isoformat()
        else:
            usage_start = self.usage_start

        description = self.description

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "line": line,
                "kind": kind,
                "meter": meter,
                "variant": variant,
                "price_version": price_version,
                "unit_amount": unit_amount,
                "quantity": quantity,
                "exact_amount": exact_amount,
                "amount": amount,
                "late": late,
                "usage_start": usage_start,
                "description": description,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        line = d.pop("line")

        kind = d.pop("kind")

        meter = d.pop("meter")

        variant = d.pop("variant")

        def _parse_price_version(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        price_version = _parse_price_version(d.pop("price_version"))

        def _parse_unit_amount(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        unit_amount = _parse_unit_amount(d.pop("unit_amount"))

        quantity = d.pop("quantity")

        exact_amount = d.pop("exact_amount")

        amount = d.pop("amount")

        late = d.pop("late")

        def _parse_usage_start(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                usage_start_type_0 = datetime.datetime.fromisoformat(data)

                return usage_start_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        usage_start = _parse_usage_start(d.pop("usage_start"))

        description = d.pop("description")

        invoice_line = cls(
            line=line,
            kind=kind,
            meter=meter,
            variant=variant,
            price_version=price_version,
            unit_amount=unit_amount,
            quantity=quantity,
            exact_amount=exact_amount,
            amount=amount,
            late=late,
            usage_start=usage_start,
            description=description,
        )

        invoice_line.additional_properties = d
        return invoice_line

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
