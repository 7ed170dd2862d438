from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Share")


@_attrs_define
class Share:
    """A share of items with its 95 % Wilson interval.

    Attributes:
        successes (int): Items that count.
        n (int): Items in all.
        value (float | None): The share, 0 to 1; null without items.
        low (float): Lower end of the interval.
        high (float): Upper end of the interval.
    """

    successes: int
    n: int
    value: float | None
    low: float
    high: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        successes = self.successes

        n = self.n

        value: float | None
        value = self.value

        low = self.low

        high = self.high

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "successes": successes,
                "n": n,
                "value": value,
                "low": low,
                "high": high,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        successes = d.pop("successes")

        n = d.pop("n")

        def _parse_value(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        value = _parse_value(d.pop("value"))

        low = d.pop("low")

        high = d.pop("high")

        share = cls(
            successes=successes,
            n=n,
            value=value,
            low=low,
            high=high,
        )

        share.additional_properties = d
        return share

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
