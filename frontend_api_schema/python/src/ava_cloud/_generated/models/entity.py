from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.appearance import Appearance
    from ..models.linked_object import LinkedObject


T = TypeVar("T", bound="Entity")


@_attrs_define
class Entity:
    """A person, place or thing that one or more mentions refer to.

    Attributes:
        id (str):
        name (str):
        type_ (str):
        description (str):
        aliases (list[str]):
        mentions (int):
        appearances (list[Appearance]): The first 20 appearances, in order of time.
        objects (list[LinkedObject]): Tracked objects that are this entity, the surest first.
    """

    id: str
    name: str
    type_: str
    description: str
    aliases: list[str]
    mentions: int
    appearances: list[Appearance]
    objects: list[LinkedObject]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        type_ = self.type_

        description = self.description

        aliases = self.aliases

        mentions = self.mentions

        appearances = []
        for appearances_item_data in self.appearances:
            appearances_item = appearances_item_data.to_dict()
            appearances.append(appearances_item)

        objects = []
        for objects_item_data in self.objects:
            objects_item = objects_item_data.to_dict()
            objects.append(objects_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "type": type_,
                "description": description,
                "aliases": aliases,
                "mentions": mentions,
                "appearances": appearances,
                "objects": objects,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.appearance import Appearance  # noqa: PLC0415
        from ..models.linked_object import LinkedObject  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        type_ = d.pop("type")

        description = d.pop("description")

        aliases = cast(list[str], d.pop("aliases"))

        mentions = d.pop("mentions")

        appearances = []
        _appearances = d.pop("appearances")
        for appearances_item_data in _appearances:
            appearances_item = Appearance.from_dict(appearances_item_data)

            appearances.append(appearances_item)

        objects = []
        _objects = d.pop("objects")
        for objects_item_data in _objects:
            objects_item = LinkedObject.from_dict(objects_item_data)

            objects.append(objects_item)

        entity = cls(
            id=id,
            name=name,
            type_=type_,
            description=description,
            aliases=aliases,
            mentions=mentions,
            appearances=appearances,
            objects=objects,
        )

        entity.additional_properties = d
        return entity

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
