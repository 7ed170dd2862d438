from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="MadeThing")


@_attrs_define
class MadeThing:
    """
    Attributes:
        id (str):
        object_ (str): `api_key`, `invitation`, `webhook_endpoint` or `share`.
        created_at (datetime.datetime):
        ends_with_maker (bool): Whether it ends when its maker is removed or revoked.
    """

    id: str
    object_: str
    created_at: datetime.datetime
    ends_with_maker: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        created_at = self.created_at.isoformat()

        ends_with_maker = self.ends_with_maker

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "created_at": created_at,
                "ends_with_maker": ends_with_maker,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        ends_with_maker = d.pop("ends_with_maker")

        made_thing = cls(
            id=id,
            object_=object_,
            created_at=created_at,
            ends_with_maker=ends_with_maker,
        )

        made_thing.additional_properties = d
        return made_thing

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
