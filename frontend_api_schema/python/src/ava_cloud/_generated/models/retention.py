from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Retention")


@_attrs_define
class Retention:
    """
    Attributes:
        object_ (str):
        source_days (int | None): Days for which recordings are kept. Then a video answers, but is neither played nor
            indexed again.
        thumbnails_days (int | None): Days for which the pictures of the index and of answers are kept.
        index_days (int | None): Days for which videos are kept. Then a video is deleted with its recording, pictures
            and index.
        questions_days (int | None): Days for which questions, searches, batches, comparisons and sessions are kept.
        derived_text (str): What becomes of an answer when a video that it was read from is deleted: `redact` empties
            its text and keeps the question, its charge and its times; `remove` deletes the question. Known values:
            `redact`, `remove`. Others may follow.
    """

    object_: str
    source_days: int | None
    thumbnails_days: int | None
    index_days: int | None
    questions_days: int | None
    derived_text: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_ = self.object_

        source_days: int | None
        source_days = self.source_days

        thumbnails_days: int | None
        thumbnails_days = self.thumbnails_days

        index_days: int | None
        index_days = self.index_days

        questions_days: int | None
        questions_days = self.questions_days

        derived_text = self.derived_text

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "source_days": source_days,
                "thumbnails_days": thumbnails_days,
                "index_days": index_days,
                "questions_days": questions_days,
                "derived_text": derived_text,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        object_ = d.pop("object")

        def _parse_source_days(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        source_days = _parse_source_days(d.pop("source_days"))

        def _parse_thumbnails_days(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        thumbnails_days = _parse_thumbnails_days(d.pop("thumbnails_days"))

        def _parse_index_days(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        index_days = _parse_index_days(d.pop("index_days"))

        def _parse_questions_days(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        questions_days = _parse_questions_days(d.pop("questions_days"))

        derived_text = d.pop("derived_text")

        retention = cls(
            object_=object_,
            source_days=source_days,
            thumbnails_days=thumbnails_days,
            index_days=index_days,
            questions_days=questions_days,
            derived_text=derived_text,
        )

        retention.additional_properties = d
        return retention

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
