from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Participant")


@_attrs_define
class Participant:
    """
    Attributes:
        entity_id (str):
        name (str):
        type_ (str):
        role (str):
        confidence (float):
    """

    entity_id: str
    name: str
    type_: str
    role: str
    confidence: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        entity_id = self.entity_id

        name = self.name

        type_ = self.type_

        role = self.role

        confidence = self.confidence

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "entity_id": entity_id,
                "name": name,
                "type": type_,
                "role": role,
                "confidence": confidence,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        entity_id = d.pop("entity_id")

        name = d.pop("name")

        type_ = d.pop("type")

        role = d.pop("role")

        confidence = d.pop("confidence")

        participant = cls(
            entity_id=entity_id,
            name=name,
            type_=type_,
            role=role,
            confidence=confidence,
        )

        participant.additional_properties = d
        return participant

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
