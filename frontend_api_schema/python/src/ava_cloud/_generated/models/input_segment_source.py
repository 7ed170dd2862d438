from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="InputSegmentSource")


@_attrs_define
class InputSegmentSource:
    """
    Attributes:
        type_ (str): Known values: `upload`, `url`. Others may follow.
        upload_id (None | str):
        url (None | str): The URL without its query; null after the fetch.
    """

    type_: str
    upload_id: None | str
    url: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        upload_id: None | str
        upload_id = self.upload_id

        url: None | str
        url = self.url

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "upload_id": upload_id,
                "url": url,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = d.pop("type")

        def _parse_upload_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        upload_id = _parse_upload_id(d.pop("upload_id"))

        def _parse_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        url = _parse_url(d.pop("url"))

        input_segment_source = cls(
            type_=type_,
            upload_id=upload_id,
            url=url,
        )

        input_segment_source.additional_properties = d
        return input_segment_source

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
