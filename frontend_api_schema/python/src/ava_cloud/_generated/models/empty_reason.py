from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="EmptyReason")


@_attrs_define
class EmptyReason:
    """Why a search that succeeded has no results.

    Attributes:
        code (str): `below_min_score`: what was found does not fit well enough. `no_match`: nothing has anything in
            common with the query. `nothing_indexed`: no video of the scope was indexed yet. `results_deleted`: the videos
            that had the results are gone.
        message (str): The reason in words, and what to do.
        best_score (float | None): Highest score of what was left out; null if nothing was.
    """

    code: str
    message: str
    best_score: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        message = self.message

        best_score: float | None
        best_score = self.best_score

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "message": message,
                "best_score": best_score,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        code = d.pop("code")

        message = d.pop("message")

        def _parse_best_score(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        best_score = _parse_best_score(d.pop("best_score"))

        empty_reason = cls(
            code=code,
            message=message,
            best_score=best_score,
        )

        empty_reason.additional_properties = d
        return empty_reason

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
