from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="MyTenant")


@_attrs_define
class MyTenant:
    """
    Attributes:
        tenant_id (str):
        slug (str): Value of the header `AVA-Tenant`.
        name (str):
        role (str): One of owner, admin, developer, analyst, viewer and billing. Known values: `owner`, `admin`,
            `developer`, `analyst`, `viewer`, `billing`. Others may follow.
        scopes (list[str]):
        collection_ids (list[str] | None): Collections whose videos the member sees; null for all. Only analysts and
            viewers can be limited.
    """

    tenant_id: str
    slug: str
    name: str
    role: str
    scopes: list[str]
    collection_ids: list[str] | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        tenant_id = self.tenant_id

        slug = self.slug

        name = self.name

        role = self.role

        scopes = self.scopes

        collection_ids: list[str] | None
        if isinstance(self.collection_ids, list):
            collection_ids = self.collection_ids

        else:
            collection_ids = self.collection_ids

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "tenant_id": tenant_id,
                "slug": slug,
                "name": name,
                "role": role,
                "scopes": scopes,
                "collection_ids": collection_ids,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        tenant_id = d.pop("tenant_id")

        slug = d.pop("slug")

        name = d.pop("name")

        role = d.pop("role")

        scopes = cast(list[str], d.pop("scopes"))

        def _parse_collection_ids(data: object) -> list[str] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                collection_ids_type_0 = cast(list[str], data)

                return collection_ids_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None, data)

        collection_ids = _parse_collection_ids(d.pop("collection_ids"))

        my_tenant = cls(
            tenant_id=tenant_id,
            slug=slug,
            name=name,
            role=role,
            scopes=scopes,
            collection_ids=collection_ids,
        )

        my_tenant.additional_properties = d
        return my_tenant

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
