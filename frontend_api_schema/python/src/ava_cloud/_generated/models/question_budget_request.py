from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="QuestionBudgetRequest")


@_attrs_define
class QuestionBudgetRequest:
    """Limits of one question. A limit that is left out does not apply.

    Attributes:
        max_calls (int | Unset): Maximum number of model calls.
        max_tokens (int | Unset): Maximum of prompt and completion tokens together.
        max_seconds (float | Unset): Maximum duration of the search in seconds.
    """

    max_calls: int | Unset = UNSET
    max_tokens: int | Unset = UNSET
    max_seconds: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        max_calls = self.max_calls

        max_tokens = self.max_tokens

        max_seconds = self.max_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if max_calls is not UNSET:
            field_dict["max_calls"] = max_calls
        if max_tokens is not UNSET:
            field_dict["max_tokens"] = max_tokens
        if max_seconds is not UNSET:
            field_dict["max_seconds"] = max_seconds

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        max_calls = d.pop("max_calls", UNSET)

        max_tokens = d.pop("max_tokens", UNSET)

        max_seconds = d.pop("max_seconds", UNSET)

        question_budget_request = cls(
            max_calls=max_calls,
            max_tokens=max_tokens,
            max_seconds=max_seconds,
        )

        question_budget_request.additional_properties = d
        return question_budget_request

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
