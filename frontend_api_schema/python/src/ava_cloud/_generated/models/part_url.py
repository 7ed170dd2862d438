from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.part_url_headers import PartUrlHeaders


T = TypeVar("T", bound="PartUrl")


@_attrs_define
class PartUrl:
    """
    Attributes:
        part_number (int):
        url (str): PUT the bytes of the part to this URL.
        headers (PartUrlHeaders): Send these headers with the PUT, unchanged.
        expires_at (datetime.datetime):
    """

    part_number: int
    url: str
    headers: PartUrlHeaders
    expires_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        part_number = self.part_number

        url = self.url

        headers = self.headers.to_dict()

        expires_at = self.expires_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "part_number": part_number,
                "url": url,
                "headers": headers,
                "expires_at": expires_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.part_url_headers import PartUrlHeaders  # noqa: PLC0415

        d = dict(src_dict)
        part_number = d.pop("part_number")

        url = d.pop("url")

        headers = PartUrlHeaders.from_dict(d.pop("headers"))

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        part_url = cls(
            part_number=part_number,
            url=url,
            headers=headers,
            expires_at=expires_at,
        )

        part_url.additional_properties = d
        return part_url

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
