from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="LinkedObject")


@_attrs_define
class LinkedObject:
    """A tracked object that is the entity.

    Attributes:
        object_id (str):
        n (int): Index of the object in the order of first appearance, from 0.
        category (str):
        colour (str):
        confidence (float): Certainty that entity and object are one thing, 0 to 1.
    """

    object_id: str
    n: int
    category: str
    colour: str
    confidence: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_id = self.object_id

        n = self.n

        category = self.category

        colour = self.colour

        confidence = self.confidence

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object_id": object_id,
                "n": n,
                "category": category,
                "colour": colour,
                "confidence": confidence,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        object_id = d.pop("object_id")

        n = d.pop("n")

        category = d.pop("category")

        colour = d.pop("colour")

        confidence = d.pop("confidence")

        linked_object = cls(
            object_id=object_id,
            n=n,
            category=category,
            colour=colour,
            confidence=confidence,
        )

        linked_object.additional_properties = d
        return linked_object

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
