from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="OwnBudgetRequest")


@_attrs_define
class OwnBudgetRequest:
    """Limits of the tenant, or of one API key. A limit that is null or left out does not apply.

    Attributes:
        api_key_id (None | str | Unset): The key to limit; null for the whole tenant.
        charge (None | str | Unset): Charge of a month by the list prices, in the currency of your plan when the limit
            is set.
        media_minutes (None | str | Unset): Minutes of recordings that are indexed in a month. An index that is built
            again counts again.
        questions (int | None | Unset): Questions that are accepted in a month. Questions that are not charged do not
            count.
        open_jobs (int | None | Unset): Questions, searches and indexings that are open at the same time.
        retries (int | None | Unset): Questions and searches that are retried within an hour.
        stored_bytes (int | None | Unset): Bytes of recordings that are stored at the same time. A key is limited by the
            videos that it created.
    """

    api_key_id: None | str | Unset = UNSET
    charge: None | str | Unset = UNSET
    media_minutes: None | str | Unset = UNSET
    questions: int | None | Unset = UNSET
    open_jobs: int | None | Unset = UNSET
    retries: int | None | Unset = UNSET
    stored_bytes: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        api_key_id: None | str | Unset
        if isinstance(self.api_key_id, Unset):
            api_key_id = UNSET
        else:
            api_key_id = self.api_key_id

        charge: None | str | Unset
        if isinstance(self.charge, Unset):
            charge = UNSET
        else:
            charge = self.charge

        media_minutes: None | str | Unset
        if isinstance(self.media_minutes, Unset):
            media_minutes = UNSET
        else:
            media_minutes = self.media_minutes

        questions: int | None | Unset
        if isinstance(self.questions, Unset):
            questions = UNSET
        else:
            questions = self.questions

        open_jobs: int | None | Unset
        if isinstance(self.open_jobs, Unset):
            open_jobs = UNSET
        else:
            open_jobs = self.open_jobs

        retries: int | None | Unset
        if isinstance(self.retries, Unset):
            retries = UNSET
        else:
            retries = self.retries

        stored_bytes: int | None | Unset
        if isinstance(self.stored_bytes, Unset):
            stored_bytes = UNSET
        else:
            stored_bytes = self.stored_bytes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id
        if charge is not UNSET:
            field_dict["charge"] = charge
        if media_minutes is not UNSET:
            field_dict["media_minutes"] = media_minutes
        if questions is not UNSET:
            field_dict["questions"] = questions
        if open_jobs is not UNSET:
            field_dict["open_jobs"] = open_jobs
        if retries is not UNSET:
            field_dict["retries"] = retries
        if stored_bytes is not UNSET:
            field_dict["stored_bytes"] = stored_bytes

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_api_key_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        api_key_id = _parse_api_key_id(d.pop("api_key_id", UNSET))

        def _parse_charge(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        charge = _parse_charge(d.pop("charge", UNSET))

        def _parse_media_minutes(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        media_minutes = _parse_media_minutes(d.pop("media_minutes", UNSET))

        def _parse_questions(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        questions = _parse_questions(d.pop("questions", UNSET))

        def _parse_open_jobs(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        open_jobs = _parse_open_jobs(d.pop("open_jobs", UNSET))

        def _parse_retries(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        retries = _parse_retries(d.pop("retries", UNSET))

        def _parse_stored_bytes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        stored_bytes = _parse_stored_bytes(d.pop("stored_bytes", UNSET))

        own_budget_request = cls(
            api_key_id=api_key_id,
            charge=charge,
            media_minutes=media_minutes,
            questions=questions,
            open_jobs=open_jobs,
            retries=retries,
            stored_bytes=stored_bytes,
        )

        own_budget_request.additional_properties = d
        return own_budget_request

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
