from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="TimelineEvents")


@_attrs_define
class TimelineEvents:
    """
    Attributes:
        start_ms (list[int]):
        end_ms (list[int]):
        id (list[str]):
        summary (list[str] | Unset): Only with `include=summaries`.
    """

    start_ms: list[int]
    end_ms: list[int]
    id: list[str]
    summary: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        start_ms = self.start_ms

        end_ms = self.end_ms

        id = self.id

        summary: list[str] | Unset = UNSET
        if not isinstance(self.summary, Unset):
            summary = self.summary

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "start_ms": start_ms,
                "end_ms": end_ms,
                "id": id,
            }
        )
        if summary is not UNSET:
            field_dict["summary"] = summary

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        start_ms = cast(list[int], d.pop("start_ms"))

        end_ms = cast(list[int], d.pop("end_ms"))

        id = cast(list[str], d.pop("id"))

        summary = cast(list[str], d.pop("summary", UNSET))

        timeline_events = cls(
            start_ms=start_ms,
            end_ms=end_ms,
            id=id,
            summary=summary,
        )

        timeline_events.additional_properties = d
        return timeline_events

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
