from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.derived_text import DerivedText, check_derived_text
from ..types import UNSET, Unset

T = TypeVar("T", bound="RetentionUpdateRequest")


@_attrs_define
class RetentionUpdateRequest:
    """
    Attributes:
        source_days (int | None | Unset): Days for which recordings are kept. Then a video answers, but is neither
            played nor indexed again. Null keeps them for as long as you are a customer.
        thumbnails_days (int | None | Unset): Days for which the pictures of the index and of answers are kept. Null
            keeps them for as long as you are a customer.
        index_days (int | None | Unset): Days for which videos are kept. Then a video is deleted with its recording,
            pictures and index. Null keeps them for as long as you are a customer.
        questions_days (int | None | Unset): Days for which questions, searches, batches, comparisons and sessions are
            kept. Null keeps them for as long as you are a customer.
        derived_text (DerivedText | Unset):
    """

    source_days: int | None | Unset = UNSET
    thumbnails_days: int | None | Unset = UNSET
    index_days: int | None | Unset = UNSET
    questions_days: int | None | Unset = UNSET
    derived_text: DerivedText | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        source_days: int | None | Unset
        if isinstance(self.source_days, Unset):
            source_days = UNSET
        else:
            source_days = self.source_days

        thumbnails_days: int | None | Unset
        if isinstance(self.thumbnails_days, Unset):
            thumbnails_days = UNSET
        else:
            thumbnails_days = self.thumbnails_days

        index_days: int | None | Unset
        if isinstance(self.index_days, Unset):
            index_days = UNSET
        else:
            index_days = self.index_days

        questions_days: int | None | Unset
        if isinstance(self.questions_days, Unset):
            questions_days = UNSET
        else:
            questions_days = self.questions_days

        derived_text: str | Unset = UNSET
        if not isinstance(self.derived_text, Unset):
            derived_text = self.derived_text

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if source_days is not UNSET:
            field_dict["source_days"] = source_days
        if thumbnails_days is not UNSET:
            field_dict["thumbnails_days"] = thumbnails_days
        if index_days is not UNSET:
            field_dict["index_days"] = index_days
        if questions_days is not UNSET:
            field_dict["questions_days"] = questions_days
        if derived_text is not UNSET:
            field_dict["derived_text"] = derived_text

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_source_days(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        source_days = _parse_source_days(d.pop("source_days", UNSET))

        def _parse_thumbnails_days(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        thumbnails_days = _parse_thumbnails_days(d.pop("thumbnails_days", UNSET))

        def _parse_index_days(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        index_days = _parse_index_days(d.pop("index_days", UNSET))

        def _parse_questions_days(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        questions_days = _parse_questions_days(d.pop("questions_days", UNSET))

        _derived_text = d.pop("derived_text", UNSET)
        derived_text: DerivedText | Unset
        if isinstance(_derived_text, Unset):
            derived_text = UNSET
        else:
            derived_text = check_derived_text(_derived_text)

        retention_update_request = cls(
            source_days=source_days,
            thumbnails_days=thumbnails_days,
            index_days=index_days,
            questions_days=questions_days,
            derived_text=derived_text,
        )

        retention_update_request.additional_properties = d
        return retention_update_request

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
