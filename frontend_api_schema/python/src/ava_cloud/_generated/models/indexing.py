from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Indexing")


@_attrs_define
class Indexing:
    """An index that is being built while questions read the previous index.

    Attributes:
        version (int):
        indexed_until_ms (int):
        started_at (datetime.datetime):
    """

    version: int
    indexed_until_ms: int
    started_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        version = self.version

        indexed_until_ms = self.indexed_until_ms

        started_at = self.started_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "version": version,
                "indexed_until_ms": indexed_until_ms,
                "started_at": started_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        version = d.pop("version")

        indexed_until_ms = d.pop("indexed_until_ms")

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        indexing = cls(
            version=version,
            indexed_until_ms=indexed_until_ms,
            started_at=started_at,
        )

        indexing.additional_properties = d
        return indexing

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
