from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Contradiction")


@_attrs_define
class Contradiction:
    """Where the clock in the picture differs from what you said. What you said holds.

    Attributes:
        at_ms (int):
        recorded_at (datetime.datetime): The time there by what you said.
        shown_at (datetime.datetime): The time there by the clock in the picture.
    """

    at_ms: int
    recorded_at: datetime.datetime
    shown_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at_ms = self.at_ms

        recorded_at = self.recorded_at.isoformat()

        shown_at = self.shown_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at_ms": at_ms,
                "recorded_at": recorded_at,
                "shown_at": shown_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        at_ms = d.pop("at_ms")

        recorded_at = datetime.datetime.fromisoformat(d.pop("recorded_at"))

        shown_at = datetime.datetime.fromisoformat(d.pop("shown_at"))

        contradiction = cls(
            at_ms=at_ms,
            recorded_at=recorded_at,
            shown_at=shown_at,
        )

        contradiction.additional_properties = d
        return contradiction

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
