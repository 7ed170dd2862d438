from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="BudgetRequest")


@_attrs_define
class BudgetRequest:
    """Limits per calendar month (UTC). A limit that is null or left out does not apply.

    Attributes:
        max_tokens (int | None | Unset): Maximum of prompt and completion tokens together.
        max_seconds (float | None | Unset): Maximum time of model calls, in seconds.
    """

    max_tokens: int | None | Unset = UNSET
    max_seconds: float | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        max_tokens: int | None | Unset
        if isinstance(self.max_tokens, Unset):
            max_tokens = UNSET
        else:
            max_tokens = self.max_tokens

        max_seconds: float | None | Unset
        if isinstance(self.max_seconds, Unset):
            max_seconds = UNSET
        else:
            max_seconds = self.max_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if max_tokens is not UNSET:
            field_dict["max_tokens"] = max_tokens
        if max_seconds is not UNSET:
            field_dict["max_seconds"] = max_seconds

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_max_tokens(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_tokens = _parse_max_tokens(d.pop("max_tokens", UNSET))

        def _parse_max_seconds(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        max_seconds = _parse_max_seconds(d.pop("max_seconds", UNSET))

        budget_request = cls(
            max_tokens=max_tokens,
            max_seconds=max_seconds,
        )

        budget_request.additional_properties = d
        return budget_request

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
