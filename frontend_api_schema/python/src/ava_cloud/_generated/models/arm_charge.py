from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ArmCharge")


@_attrs_define
class ArmCharge:
    """What the answers of an arm are charged, without grading, as exact decimals in the currency of the charge.

    Attributes:
        total (str): Sum over the items.
        mean (None | str): Mean of an item; null without items.
        p50 (None | str): Median charge of an item.
        p95 (None | str): Charge that 95 % of the items do not exceed.
    """

    total: str
    mean: None | str
    p50: None | str
    p95: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        total = self.total

        mean: None | str
        mean = self.mean

        p50: None | str
        p50 = self.p50

        p95: None | str
        p95 = self.p95

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "total": total,
                "mean": mean,
                "p50": p50,
                "p95": p95,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        total = d.pop("total")

        def _parse_mean(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        mean = _parse_mean(d.pop("mean"))

        def _parse_p50(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        p50 = _parse_p50(d.pop("p50"))

        def _parse_p95(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        p95 = _parse_p95(d.pop("p95"))

        arm_charge = cls(
            total=total,
            mean=mean,
            p50=p50,
            p95=p95,
        )

        arm_charge.additional_properties = d
        return arm_charge

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
