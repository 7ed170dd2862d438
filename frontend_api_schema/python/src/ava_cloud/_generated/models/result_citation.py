from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ResultCitation")


@_attrs_define
class ResultCitation:
    """An event that an answer cites.

    Attributes:
        video_id (str): Video of the event.
        start_ms (int): Begin of the event in milliseconds.
        end_ms (int): End of the event in milliseconds.
        status (str): Whether the event supports the claims that cite it. Known values: `supported`, `contradicted`,
            `unverified`. Others may follow.
    """

    video_id: str
    start_ms: int
    end_ms: int
    status: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        start_ms = self.start_ms

        end_ms = self.end_ms

        status = self.status

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "start_ms": start_ms,
                "end_ms": end_ms,
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        video_id = d.pop("video_id")

        start_ms = d.pop("start_ms")

        end_ms = d.pop("end_ms")

        status = d.pop("status")

        result_citation = cls(
            video_id=video_id,
            start_ms=start_ms,
            end_ms=end_ms,
            status=status,
        )

        result_citation.additional_properties = d
        return result_citation

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
