from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="NoticeAddress")


@_attrs_define
class NoticeAddress:
    """
    Attributes:
        email (str): An address that gets all notices; empty for none.
        confirmed (bool): Whether a reader of the address wants the notices. Until then a link is mailed there, and no
            notice. Addresses of your owners, admins and billing members need no confirmation.
        roles (list[str]): Roles whose members get all notices.
    """

    email: str
    confirmed: bool
    roles: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        email = self.email

        confirmed = self.confirmed

        roles = self.roles

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "email": email,
                "confirmed": confirmed,
                "roles": roles,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        email = d.pop("email")

        confirmed = d.pop("confirmed")

        roles = cast(list[str], d.pop("roles"))

        notice_address = cls(
            email=email,
            confirmed=confirmed,
            roles=roles,
        )

        notice_address.additional_properties = d
        return notice_address

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
