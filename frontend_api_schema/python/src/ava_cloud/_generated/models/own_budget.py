from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.measures import Measures


T = TypeVar("T", bound="OwnBudget")


@_attrs_define
class OwnBudget:
    """Limits that you have set for the tenant or for one API key, and what counts against them.

    Attributes:
        id (str):
        object_ (str): Always `budget`.
        api_key_id (None | str): The key that is limited; null for the whole tenant.
        currency (str): Currency of the charge, by its ISO 4217 code: that of your plan when the limits were set.
        charge_holds (bool): False if your plan has another currency now: the limit of charge is suspended. Set it
            again.
        limits (Measures): Amounts by limit.
        used (Measures): Amounts by limit.
        reserved (Measures): Amounts by limit.
        left (Measures): Amounts by limit.
        start_at (datetime.datetime): Start of the current month (UTC).
        end_at (datetime.datetime): Start of the next month (UTC).
        updated_at (datetime.datetime): When the limits were last changed.
    """

    id: str
    object_: str
    api_key_id: None | str
    currency: str
    charge_holds: bool
    limits: Measures
    used: Measures
    reserved: Measures
    left: Measures
    start_at: datetime.datetime
    end_at: datetime.datetime
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        api_key_id: None | str
        api_key_id = self.api_key_id

        currency = self.currency

        charge_holds = self.charge_holds

        limits = self.limits.to_dict()

        used = self.used.to_dict()

        reserved = self.reserved.to_dict()

        left = self.left.to_dict()

        start_at = self.start_at.isoformat()

        end_at = self.end_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "api_key_id": api_key_id,
                "currency": currency,
                "charge_holds": charge_holds,
                "limits": limits,
                "used": used,
                "reserved": reserved,
                "left": left,
                "start_at": start_at,
                "end_at": end_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.measures import Measures  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        def _parse_api_key_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        api_key_id = _parse_api_key_id(d.pop("api_key_id"))

        currency = d.pop("currency")

        charge_holds = d.pop("charge_holds")

        limits = Measures.from_dict(d.pop("limits"))

        used = Measures.from_dict(d.pop("used"))

        reserved = Measures.from_dict(d.pop("reserved"))

        left = Measures.from_dict(d.pop("left"))

        start_at = datetime.datetime.fromisoformat(d.pop("start_at"))

        end_at = datetime.datetime.fromisoformat(d.pop("end_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        own_budget = cls(
            id=id,
            object_=object_,
            api_key_id=api_key_id,
            currency=currency,
            charge_holds=charge_holds,
            limits=limits,
            used=used,
            reserved=reserved,
            left=left,
            start_at=start_at,
            end_at=end_at,
            updated_at=updated_at,
        )

        own_budget.additional_properties = d
        return own_budget

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
