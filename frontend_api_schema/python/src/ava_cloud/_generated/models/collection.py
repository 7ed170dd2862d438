from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Collection")


@_attrs_define
class Collection:
    """
    Attributes:
        id (str):
        object_ (str):
        name (str):
        profile (str): Known values: `general`, `wildlife`, `traffic`, `egocentric`, `city`. Others may follow.
        instructions (str):
        keeps_renditions (bool):
        created_at (datetime.datetime):
    """

    id: str
    object_: str
    name: str
    profile: str
    instructions: str
    keeps_renditions: bool
    created_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        name = self.name

        profile = self.profile

        instructions = self.instructions

        keeps_renditions = self.keeps_renditions

        created_at = self.created_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "name": name,
                "profile": profile,
                "instructions": instructions,
                "keeps_renditions": keeps_renditions,
                "created_at": created_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        name = d.pop("name")

        profile = d.pop("profile")

        instructions = d.pop("instructions")

        keeps_renditions = d.pop("keeps_renditions")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        collection = cls(
            id=id,
            object_=object_,
            name=name,
            profile=profile,
            instructions=instructions,
            keeps_renditions=keeps_renditions,
            created_at=created_at,
        )

        collection.additional_properties = d
        return collection

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
