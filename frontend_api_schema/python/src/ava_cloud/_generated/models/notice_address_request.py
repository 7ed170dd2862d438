from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.roles_enum import RolesEnum, check_roles_enum
from ..types import UNSET, Unset

T = TypeVar("T", bound="NoticeAddressRequest")


@_attrs_define
class NoticeAddressRequest:
    """
    Attributes:
        email (str): An address that gets all notices; empty for none.
        roles (list[RolesEnum] | Unset): Roles whose members get all notices; without it they stay as they are.
    """

    email: str
    roles: list[RolesEnum] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        email: str
        email = self.email

        roles: list[str] | Unset = UNSET
        if not isinstance(self.roles, Unset):
            roles = []
            for roles_item_data in self.roles:
                roles_item: str = roles_item_data
                roles.append(roles_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "email": email,
            }
        )
        if roles is not UNSET:
            field_dict["roles"] = roles

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_email(data: object) -> str:
            return cast(str, data)

        email = _parse_email(d.pop("email"))

        _roles = d.pop("roles", UNSET)
        roles: list[RolesEnum] | Unset = UNSET
        if _roles is not UNSET:
            roles = []
            for roles_item_data in _roles:
                roles_item = check_roles_enum(roles_item_data)

                roles.append(roles_item)

        notice_address_request = cls(
            email=email,
            roles=roles,
        )

        notice_address_request.additional_properties = d
        return notice_address_request

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
