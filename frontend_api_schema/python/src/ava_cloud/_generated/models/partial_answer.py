from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PartialAnswer")


@_attrs_define
class PartialAnswer:
    """The best answer so far of a search that still runs.

    Attributes:
        text (str): The answer.
        choice (int | None): Index of the chosen choice, from 0.
        score (float): Score of the answer, 0 to 1.
        path (str): Path of the node that gave the answer.
        level (int): Number of levels of the search that are done.
    """

    text: str
    choice: int | None
    score: float
    path: str
    level: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        text = self.text

        choice: int | None
        choice = self.choice

        score = self.score

        path = self.path

        level = self.level

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "text": text,
                "choice": choice,
                "score": score,
                "path": path,
                "level": level,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        text = d.pop("text")

        def _parse_choice(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        choice = _parse_choice(d.pop("choice"))

        score = d.pop("score")

        path = d.pop("path")

        level = d.pop("level")

        partial_answer = cls(
            text=text,
            choice=choice,
            score=score,
            path=path,
            level=level,
        )

        partial_answer.additional_properties = d
        return partial_answer

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
