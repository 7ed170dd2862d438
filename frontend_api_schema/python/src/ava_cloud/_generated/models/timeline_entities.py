from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="TimelineEntities")


@_attrs_define
class TimelineEntities:
    """
    Attributes:
        start_ms (list[int]):
        end_ms (list[int]):
        entity_id (list[str]):
    """

    start_ms: list[int]
    end_ms: list[int]
    entity_id: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        start_ms = self.start_ms

        end_ms = self.end_ms

        entity_id = self.entity_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "start_ms": start_ms,
                "end_ms": end_ms,
                "entity_id": entity_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        start_ms = cast(list[int], d.pop("start_ms"))

        end_ms = cast(list[int], d.pop("end_ms"))

        entity_id = cast(list[str], d.pop("entity_id"))

        timeline_entities = cls(
            start_ms=start_ms,
            end_ms=end_ms,
            entity_id=entity_id,
        )

        timeline_entities.additional_properties = d
        return timeline_entities

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
