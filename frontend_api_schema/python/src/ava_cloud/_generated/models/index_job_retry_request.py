from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="IndexJobRetryRequest")


@_attrs_define
class IndexJobRetryRequest:
    """The part of the recording whose gaps are indexed again; an empty body retries everything that failed.

    Attributes:
        start_ms (int | Unset):
        end_ms (int | Unset):
    """

    start_ms: int | Unset = UNSET
    end_ms: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        start_ms = self.start_ms

        end_ms = self.end_ms

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if start_ms is not UNSET:
            field_dict["start_ms"] = start_ms
        if end_ms is not UNSET:
            field_dict["end_ms"] = end_ms

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        start_ms = d.pop("start_ms", UNSET)

        end_ms = d.pop("end_ms", UNSET)

        index_job_retry_request = cls(
            start_ms=start_ms,
            end_ms=end_ms,
        )

        index_job_retry_request.additional_properties = d
        return index_job_retry_request

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
