from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.part_urls_request_checksums import PartUrlsRequestChecksums


T = TypeVar("T", bound="PartUrlsRequest")


@_attrs_define
class PartUrlsRequest:
    """
    Attributes:
        part_numbers (list[int]):
        checksums (PartUrlsRequestChecksums | Unset): SHA-256 in hex by part number.
    """

    part_numbers: list[int]
    checksums: PartUrlsRequestChecksums | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        part_numbers = self.part_numbers

        checksums: dict[str, Any] | Unset = UNSET
        if not isinstance(self.checksums, Unset):
            checksums = self.checksums.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "part_numbers": part_numbers,
            }
        )
        if checksums is not UNSET:
            field_dict["checksums"] = checksums

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.part_urls_request_checksums import PartUrlsRequestChecksums  # noqa: PLC0415

        d = dict(src_dict)
        part_numbers = cast(list[int], d.pop("part_numbers"))

        _checksums = d.pop("checksums", UNSET)
        checksums: PartUrlsRequestChecksums | Unset
        if isinstance(_checksums, Unset):
            checksums = UNSET
        else:
            checksums = PartUrlsRequestChecksums.from_dict(_checksums)

        part_urls_request = cls(
            part_numbers=part_numbers,
            checksums=checksums,
        )

        part_urls_request.additional_properties = d
        return part_urls_request

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
