from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.price import Price
    from ..models.price_plan import PricePlan


T = TypeVar("T", bound="PriceList")


@_attrs_define
class PriceList:
    """What the tenant pays at one moment.

    Attributes:
        object_ (str): Always `price_list`. Default: 'price_list'.
        at (datetime.datetime): The moment at which the prices apply.
        currency (str): Currency of all amounts, by its ISO 4217 code.
        plan (PricePlan): The plan that the prices belong to.
        trial_until (datetime.datetime | None): Time up to which usage is free; null outside a trial.
        prices (list[Price]): The prices, by meter, model and variant.
    """

    at: datetime.datetime
    currency: str
    plan: PricePlan
    trial_until: datetime.datetime | None
    prices: list[Price]
    object_: str = "price_list"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_ = self.object_

        at = self.at.isoformat()

        currency = self.currency

        plan = self.plan.to_dict()

        trial_until: None | str
        if isinstance(self.trial_until, datetime.datetime):
            trial_until = self.trial_until.isoformat()
        else:
            trial_until = self.trial_until

        prices = []
        for prices_item_data in self.prices:
            prices_item = prices_item_data.to_dict()
            prices.append(prices_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "at": at,
                "currency": currency,
                "plan": plan,
                "trial_until": trial_until,
                "prices": prices,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.price import Price  # noqa: PLC0415
        from ..models.price_plan import PricePlan  # noqa: PLC0415

        d = dict(src_dict)
        object_ = d.pop("object")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        currency = d.pop("currency")

        plan = PricePlan.from_dict(d.pop("plan"))

        def _parse_trial_until(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                trial_until_type_0 = datetime.datetime.fromisoformat(data)

                return trial_until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        trial_until = _parse_trial_until(d.pop("trial_until"))

        prices = []
        _prices = d.pop("prices")
        for prices_item_data in _prices:
            prices_item = Price.from_dict(prices_item_data)

            prices.append(prices_item)

        price_list = cls(
            object_=object_,
            at=at,
            currency=currency,
            plan=plan,
            trial_until=trial_until,
            prices=prices,
        )

        price_list.additional_properties = d
        return price_list

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
