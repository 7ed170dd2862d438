from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.price_allowance import PriceAllowance
    from ..models.price_tier import PriceTier


T = TypeVar("T", bound="PricePlan")


@_attrs_define
class PricePlan:
    """The plan that the prices belong to.

    Attributes:
        code (str): Code of the plan.
        name (str): Name of the plan.
        version (int): Version of the plan's terms.
        minimum_amount (str): Lowest charge of a month, as an exact decimal.
        allowances (list[PriceAllowance]): What each month includes.
        tiers (list[PriceTier]): Amounts that depend on the quantity.
    """

    code: str
    name: str
    version: int
    minimum_amount: str
    allowances: list[PriceAllowance]
    tiers: list[PriceTier]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        name = self.name

        version = self.version

        minimum_amount = self.minimum_amount

        allowances = []
        for allowances_item_data in self.allowances:
            allowances_item = allowances_item_data.to_dict()
            allowances.append(allowances_item)

        tiers = []
        for tiers_item_data in self.tiers:
            tiers_item = tiers_item_data.to_dict()
            tiers.append(tiers_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "name": name,
                "version": version,
                "minimum_amount": minimum_amount,
                "allowances": allowances,
                "tiers": tiers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.price_allowance import PriceAllowance  # noqa: PLC0415
        from ..models.price_tier import PriceTier  # noqa: PLC0415

        d = dict(src_dict)
        code = d.pop("code")

        name = d.pop("name")

        version = d.pop("version")

        minimum_amount = d.pop("minimum_amount")

        allowances = []
        _allowances = d.pop("allowances")
        for allowances_item_data in _allowances:
            allowances_item = PriceAllowance.from_dict(allowances_item_data)

            allowances.append(allowances_item)

        tiers = []
        _tiers = d.pop("tiers")
        for tiers_item_data in _tiers:
            tiers_item = PriceTier.from_dict(tiers_item_data)

            tiers.append(tiers_item)

        price_plan = cls(
            code=code,
            name=name,
            version=version,
            minimum_amount=minimum_amount,
            allowances=allowances,
            tiers=tiers,
        )

        price_plan.additional_properties = d
        return price_plan

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
