from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Storage")


@_attrs_define
class Storage:
    """
    Attributes:
        object_ (str):
        quota_bytes (int | None): Quota of your plan; null without a limit.
        stored_bytes (int): Bytes of your recordings, of what makes them play in browsers, and of clips.
        reserved_bytes (int): Bytes that open uploads have announced.
        open_uploads (int):
    """

    object_: str
    quota_bytes: int | None
    stored_bytes: int
    reserved_bytes: int
    open_uploads: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_ = self.object_

        quota_bytes: int | None
        quota_bytes = self.quota_bytes

        stored_bytes = self.stored_bytes

        reserved_bytes = self.reserved_bytes

        open_uploads = self.open_uploads

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "quota_bytes": quota_bytes,
                "stored_bytes": stored_bytes,
                "reserved_bytes": reserved_bytes,
                "open_uploads": open_uploads,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        object_ = d.pop("object")

        def _parse_quota_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        quota_bytes = _parse_quota_bytes(d.pop("quota_bytes"))

        stored_bytes = d.pop("stored_bytes")

        reserved_bytes = d.pop("reserved_bytes")

        open_uploads = d.pop("open_uploads")

        storage = cls(
            object_=object_,
            quota_bytes=quota_bytes,
            stored_bytes=stored_bytes,
            reserved_bytes=reserved_bytes,
            open_uploads=open_uploads,
        )

        storage.additional_properties = d
        return storage

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
