from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Price")


@_attrs_define
class Price:
    """The price of one unit of a meter.

    Attributes:
        meter (str): What is counted. Known values: `media_seconds`, `live_seconds`, `questions`, `searches`,
            `comparisons`, `storage_gb_hours`, `egress_gb`, `input_tokens`, `output_tokens`, `device_seconds`. Others may
            follow.
        variant (str): Method and effort of a question (`ava:low`, `ava`, `:low`), profile and stages of a recording
            (`traffic:full`, `traffic`, `:observer`), or empty for all others.
        model (str): Name of the model, or empty for every model.
        unit_amount (str): Amount of one unit, as an exact decimal.
        currency (str): Currency by its ISO 4217 code.
        version (int): Version of this price, counted from 1.
        effective_from (datetime.datetime): Time from which the price applies.
        effective_to (datetime.datetime | None): Time up to which the price applies; null if no later price is known.
    """

    meter: str
    variant: str
    model: str
    unit_amount: str
    currency: str
    version: int
    effective_from: datetime.datetime
    effective_to: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        meter = self.meter

        variant = self.variant

        model = self.model

        unit_amount = self.unit_amount

        currency = self.currency

        version = self.version

        effective_from = self.effective_from.isoformat()

        effective_to: None | str
        if isinstance(self.effective_to, datetime.datetime):
            effective_to = self.effective_to.isoformat()
        else:
            effective_to = self.effective_to

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "meter": meter,
                "variant": variant,
                "model": model,
                "unit_amount": unit_amount,
                "currency": currency,
                "version": version,
                "effective_from": effective_from,
                "effective_to": effective_to,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        meter = d.pop("meter")

        variant = d.pop("variant")

        model = d.pop("model")

        unit_amount = d.pop("unit_amount")

        currency = d.pop("currency")

        version = d.pop("version")

        effective_from = datetime.datetime.fromisoformat(d.pop("effective_from"))

        def _parse_effective_to(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                effective_to_type_0 = datetime.datetime.fromisoformat(data)

                return effective_to_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        effective_to = _parse_effective_to(d.pop("effective_to"))

        price = cls(
            meter=meter,
            variant=variant,
            model=model,
            unit_amount=unit_amount,
            currency=currency,
            version=version,
            effective_from=effective_from,
            effective_to=effective_to,
        )

        price.additional_properties = d
        return price

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
