from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Member")


@_attrs_define
class Member:
    """
    Attributes:
        id (str):
        object_ (str):
        person_id (str):
        email (str):
        name (str):
        role (str): One of owner, admin, developer, analyst, viewer and billing. Known values: `owner`, `admin`,
            `developer`, `analyst`, `viewer`, `billing`. Others may follow.
        collection_ids (list[str] | None): Collections whose videos the member sees; null for all. Only analysts and
            viewers can be limited.
        created_at (datetime.datetime):
        invited_by (None | str): The person who invited the member.
        from_groups (bool): Whether the role follows the identity provider's groups.
    """

    id: str
    object_: str
    person_id: str
    email: str
    name: str
    role: str
    collection_ids: list[str] | None
    created_at: datetime.datetime
    invited_by: None | str
    from_groups: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        person_id = self.person_id

        email = self.email

        name = self.name

        role = self.role

        collection_ids: list[str] | None
        if isinstance(self.collection_ids, list):
            collection_ids = self.collection_ids

        else:
            collection_ids = self.collection_ids

        created_at = self.created_at.isoformat()

        invited_by: None | str
        invited_by = self.invited_by

        from_groups = self.from_groups

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "person_id": person_id,
                "email": email,
                "name": name,
                "role": role,
                "collection_ids": collection_ids,
                "created_at": created_at,
                "invited_by": invited_by,
                "from_groups": from_groups,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        person_id = d.pop("person_id")

        email = d.pop("email")

        name = d.pop("name")

        role = d.pop("role")

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

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_invited_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        invited_by = _parse_invited_by(d.pop("invited_by"))

        from_groups = d.pop("from_groups")

        member = cls(
            id=id,
            object_=object_,
            person_id=person_id,
            email=email,
            name=name,
            role=role,
            collection_ids=collection_ids,
            created_at=created_at,
            invited_by=invited_by,
            from_groups=from_groups,
        )

        member.additional_properties = d
        return member

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
