from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.limit import Limit


T = TypeVar("T", bound="TenantLimits")


@_attrs_define
class TenantLimits:
    """Every limit that holds for the caller.

    Attributes:
        object_ (str): Always `limits`.
        plan (str): Code of your plan.
        currency (str): Currency of the charge, by its ISO 4217 code.
        start_at (datetime.datetime): Start of the current month (UTC).
        end_at (datetime.datetime): Start of the next month (UTC).
        limits (list[Limit]):
    """

    object_: str
    plan: str
    currency: str
    start_at: datetime.datetime
    end_at: datetime.datetime
    limits: list[Limit]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_ = self.object_

        plan = self.plan

        currency = self.currency

        start_at = self.start_at.isoformat()

        end_at = self.end_at.isoformat()

        limits = []
        for limits_item_data in self.limits:
            limits_item = limits_item_data.to_dict()
            limits.append(limits_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "plan": plan,
                "currency": currency,
                "start_at": start_at,
                "end_at": end_at,
                "limits": limits,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.limit import Limit  # noqa: PLC0415

        d = dict(src_dict)
        object_ = d.pop("object")

        plan = d.pop("plan")

        currency = d.pop("currency")

        start_at = datetime.datetime.fromisoformat(d.pop("start_at"))

        end_at = datetime.datetime.fromisoformat(d.pop("end_at"))

        limits = []
        _limits = d.pop("limits")
        for limits_item_data in _limits:
            limits_item = Limit.from_dict(limits_item_data)

            limits.append(limits_item)

        tenant_limits = cls(
            object_=object_,
            plan=plan,
            currency=currency,
            start_at=start_at,
            end_at=end_at,
            limits=limits,
        )

        tenant_limits.additional_properties = d
        return tenant_limits

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
