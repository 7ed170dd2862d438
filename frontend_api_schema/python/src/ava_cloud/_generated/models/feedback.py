from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Feedback")


@_attrs_define
class Feedback:
    """A verdict on an answer.

    Attributes:
        verdict (str): Whether the answer was right or wrong. Known values: `right`, `wrong`. Others may follow.
        note (str): A remark; empty if none was given.
        correct_answer (str): The answer that would be right; empty if none was given.
        correct_choice (int | None): Index of the right choice in the question's choices, from 0.
        created_by (None | str): The key (`key_…`) or the person (`per_…`) that gave this feedback.
        created_at (datetime.datetime): Time of the first feedback on this answer.
        updated_at (datetime.datetime): Time of the latest change.
    """

    verdict: str
    note: str
    correct_answer: str
    correct_choice: int | None
    created_by: None | str
    created_at: datetime.datetime
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        verdict = self.verdict

        note = self.note

        correct_answer = self.correct_answer

        correct_choice: int | None
        correct_choice = self.correct_choice

        created_by: None | str
        created_by = self.created_by

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "verdict": verdict,
                "note": note,
                "correct_answer": correct_answer,
                "correct_choice": correct_choice,
                "created_by": created_by,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        verdict = d.pop("verdict")

        note = d.pop("note")

        correct_answer = d.pop("correct_answer")

        def _parse_correct_choice(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        correct_choice = _parse_correct_choice(d.pop("correct_choice"))

        def _parse_created_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        created_by = _parse_created_by(d.pop("created_by"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        feedback = cls(
            verdict=verdict,
            note=note,
            correct_answer=correct_answer,
            correct_choice=correct_choice,
            created_by=created_by,
            created_at=created_at,
            updated_at=updated_at,
        )

        feedback.additional_properties = d
        return feedback

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
