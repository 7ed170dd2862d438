from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Limit")


@_attrs_define
class Limit:
    """One limit and what counts against it.

    Attributes:
        name (str): What is limited. `free_work` (the list price of begun work that ended without a charge) and
            `retries` are those of the last hour; `open_jobs`, `stored_bytes` and `videos` hold at any moment; all others
            are monthly. Known values: `charge`, `free_work`, `media_minutes`, `open_jobs`, `questions`, `retries`,
            `stored_bytes`, `tokens`, `videos`. Others may follow.
        scope (str): Who set it: `plan` (only we can change it), `tenant` or `api_key` (`PUT /v1/budgets`). Known
            values: `plan`, `tenant`, `api_key`. Others may follow.
        amount (str): The limit.
        used (str): What is booked or stored. Of `free_work`: what ended free within the hour, less what was charged in
            it.
        reserved (str): What open work may still consume.
        left (str): What may still be accepted.
    """

    name: str
    scope: str
    amount: str
    used: str
    reserved: str
    left: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        scope = self.scope

        amount = self.amount

        used = self.used

        reserved = self.reserved

        left = self.left

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "scope": scope,
                "amount": amount,
                "used": used,
                "reserved": reserved,
                "left": left,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        scope = d.pop("scope")

        amount = d.pop("amount")

        used = d.pop("used")

        reserved = d.pop("reserved")

        left = d.pop("left")

        limit = cls(
            name=name,
            scope=scope,
            amount=amount,
            used=used,
            reserved=reserved,
            left=left,
        )

        limit.additional_properties = d
        return limit

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
