from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.uploaded_part_request import UploadedPartRequest


T = TypeVar("T", bound="UploadCompletionRequest")


@_attrs_define
class UploadCompletionRequest:
    """
    Attributes:
        parts (list[UploadedPartRequest] | Unset): By default the parts that have arrived. Needed after
            `part_checksums`.
    """

    parts: list[UploadedPartRequest] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        parts: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.parts, Unset):
            parts = []
            for parts_item_data in self.parts:
                parts_item = parts_item_data.to_dict()
                parts.append(parts_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if parts is not UNSET:
            field_dict["parts"] = parts

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.uploaded_part_request import UploadedPartRequest  # noqa: PLC0415

        d = dict(src_dict)
        _parts = d.pop("parts", UNSET)
        parts: list[UploadedPartRequest] | Unset = UNSET
        if _parts is not UNSET:
            parts = []
            for parts_item_data in _parts:
                parts_item = UploadedPartRequest.from_dict(parts_item_data)

                parts.append(parts_item)

        upload_completion_request = cls(
            parts=parts,
        )

        upload_completion_request.additional_properties = d
        return upload_completion_request

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
