from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Measures")


@_attrs_define
class Measures:
    """Amounts by limit.

    Attributes:
        charge (None | str): Charge of a month by the list prices, in the currency of your plan when the limit is set.
        media_minutes (float | None): Minutes of recordings that are indexed in a month. An index that is built again
            counts again.
        questions (int | None): Questions that are accepted in a month. Questions that are not charged do not count.
        open_jobs (int | None): Questions, searches and indexings that are open at the same time.
        retries (int | None): Questions and searches that are retried within an hour.
        stored_bytes (int | None): Bytes of recordings that are stored at the same time. A key is limited by the videos
            that it created.
    """

    charge: None | str
    media_minutes: float | None
    questions: int | None
    open_jobs: int | None
    retries: int | None
    stored_bytes: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        charge: None | str
        charge = self.charge

        media_minutes: float | None
        media_minutes = self.media_minutes

        questions: int | None
        questions = self.questions

        open_jobs: int | None
        open_jobs = self.open_jobs

        retries: int | None
        retries = self.retries

        stored_bytes: int | None
        stored_bytes = self.stored_bytes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "charge": charge,
                "media_minutes": media_minutes,
                "questions": questions,
                "open_jobs": open_jobs,
                "retries": retries,
                "stored_bytes": stored_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_charge(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        charge = _parse_charge(d.pop("charge"))

        def _parse_media_minutes(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        media_minutes = _parse_media_minutes(d.pop("media_minutes"))

        def _parse_questions(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        questions = _parse_questions(d.pop("questions"))

        def _parse_open_jobs(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        open_jobs = _parse_open_jobs(d.pop("open_jobs"))

        def _parse_retries(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        retries = _parse_retries(d.pop("retries"))

        def _parse_stored_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        stored_bytes = _parse_stored_bytes(d.pop("stored_bytes"))

        measures = cls(
            charge=charge,
            media_minutes=media_minutes,
            questions=questions,
            open_jobs=open_jobs,
            retries=retries,
            stored_bytes=stored_bytes,
        )

        measures.additional_properties = d
        return measures

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
