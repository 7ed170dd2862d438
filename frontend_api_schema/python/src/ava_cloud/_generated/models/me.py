from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.my_tenant import MyTenant


T = TypeVar("T", bound="Me")


@_attrs_define
class Me:
    """
    Attributes:
        id (str):
        object_ (str):
        email (str):
        name (str):
        second_factor (bool): Whether the person has set up a second factor.
        tenants (list[MyTenant]): Tenants that this session reaches.
    """

    id: str
    object_: str
    email: str
    name: str
    second_factor: bool
    tenants: list[MyTenant]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        email = self.email

        name = self.name

        second_factor = self.second_factor

        tenants = []
        for tenants_item_data in self.tenants:
            tenants_item = tenants_item_data.to_dict()
            tenants.append(tenants_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "email": email,
                "name": name,
                "second_factor": second_factor,
                "tenants": tenants,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.my_tenant import MyTenant  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        email = d.pop("email")

        name = d.pop("name")

        second_factor = d.pop("second_factor")

        tenants = []
        _tenants = d.pop("tenants")
        for tenants_item_data in _tenants:
            tenants_item = MyTenant.from_dict(tenants_item_data)

            tenants.append(tenants_item)

        me = cls(
            id=id,
            object_=object_,
            email=email,
            name=name,
            second_factor=second_factor,
            tenants=tenants,
        )

        me.additional_properties = d
        return me

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
