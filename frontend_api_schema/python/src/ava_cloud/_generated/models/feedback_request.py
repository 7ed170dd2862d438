from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.verdict import Verdict, check_verdict
from ..types import UNSET, Unset

T = TypeVar("T", bound="FeedbackRequest")


@_attrs_define
class FeedbackRequest:
    """A verdict on an answer, with the right answer if you know it.

    Attributes:
        verdict (Verdict):
        note (str | Unset): A remark in your own words.
        correct_answer (str | Unset): The answer that would be right.
        correct_choice (int | None | Unset): Index of the right choice in the question's choices, from 0.
    """

    verdict: Verdict
    note: str | Unset = UNSET
    correct_answer: str | Unset = UNSET
    correct_choice: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        verdict: str = self.verdict

        note = self.note

        correct_answer = self.correct_answer

        correct_choice: int | None | Unset
        if isinstance(self.correct_choice, Unset):
            correct_choice = UNSET
        else:
            correct_choice = self.correct_choice

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "verdict": verdict,
            }
        )
        if note is not UNSET:
            field_dict["note"] = note
        if correct_answer is not UNSET:
            field_dict["correct_answer"] = correct_answer
        if correct_choice is not UNSET:
            field_dict["correct_choice"] = correct_choice

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        verdict = check_verdict(d.pop("verdict"))

        note = d.pop("note", UNSET)

        correct_answer = d.pop("correct_answer", UNSET)

        def _parse_correct_choice(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        correct_choice = _parse_correct_choice(d.pop("correct_choice", UNSET))

        feedback_request = cls(
            verdict=verdict,
            note=note,
            correct_answer=correct_answer,
            correct_choice=correct_choice,
        )

        feedback_request.additional_properties = d
        return feedback_request

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
