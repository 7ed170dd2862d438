from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Credit")


@_attrs_define
class Credit:
    """Credit that pays your invoices, the oldest first.

    Attributes:
        object_ (str): Always `credit`. Default: 'credit'.
        id (str): Id of the credit.
        amount (str): Amount that was granted.
        left (str): Amount that no invoice has used yet.
        currency (str): Currency, by its ISO 4217 code.
        reason (str): Why the credit was granted.
        granted_at (datetime.datetime): When the credit was granted.
        expires_at (datetime.datetime | None): When the credit expires, or null.
    """

    id: str
    amount: str
    left: str
    currency: str
    reason: str
    granted_at: datetime.datetime
    expires_at: datetime.datetime | None
    object_: str = "credit"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_ = self.object_

        id = self.id

        amount = self.amount

        left = self.left

        currency = self.currency

        reason = self.reason

        granted_at = self.granted_at.isoformat()

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "id": id,
                "amount": amount,
                "left": left,
                "currency": currency,
                "reason": reason,
                "granted_at": granted_at,
                "expires_at": expires_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        object_ = d.pop("object")

        id = d.pop("id")

        amount = d.pop("amount")

        left = d.pop("left")

        currency = d.pop("currency")

        reason = d.pop("reason")

        granted_at = datetime.datetime.fromisoformat(d.pop("granted_at"))

        def _parse_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))

        credit = cls(
            object_=object_,
            id=id,
            amount=amount,
            left=left,
            currency=currency,
            reason=reason,
            granted_at=granted_at,
            expires_at=expires_at,
        )

        credit.additional_properties = d
        return credit

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
