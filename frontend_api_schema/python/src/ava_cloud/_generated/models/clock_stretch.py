from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ClockStretch")


@_attrs_define
class ClockStretch:
    """A part of the video in which the wall clock runs on evenly.

    Attributes:
        start_ms (int):
        end_ms (int):
        start_at (datetime.datetime): The instant of start_ms.
        evidence (str): What you said (`recorded_at`), or the clock in the `picture`. Known values: `recorded_at`,
            `picture`. Others may follow.
    """

    start_ms: int
    end_ms: int
    start_at: datetime.datetime
    evidence: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        start_ms = self.start_ms

        end_ms = self.end_ms

        start_at = self.start_at.isoformat()

        evidence = self.evidence

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "start_ms": start_ms,
                "end_ms": end_ms,
                "start_at": start_at,
                "evidence": evidence,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        start_ms = d.pop("start_ms")

        end_ms = d.pop("end_ms")

        start_at = datetime.datetime.fromisoformat(d.pop("start_at"))

        evidence = d.pop("evidence")

        clock_stretch = cls(
            start_ms=start_ms,
            end_ms=end_ms,
            start_at=start_at,
            evidence=evidence,
        )

        clock_stretch.additional_properties = d
        return clock_stretch

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
