from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="TypicalCalls")


@_attrs_define
class TypicalCalls:
    """Number of model calls of a typical question, without embeddings and the checks of citations.

    Attributes:
        effort (str): The effort. Known values: `low`, `medium`, `high`, `paper`. Others may follow.
        least (int): Fewest calls.
        most (int): Most calls.
    """

    effort: str
    least: int
    most: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        effort = self.effort

        least = self.least

        most = self.most

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "effort": effort,
                "least": least,
                "most": most,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        effort = d.pop("effort")

        least = d.pop("least")

        most = d.pop("most")

        typical_calls = cls(
            effort=effort,
            least=least,
            most=most,
        )

        typical_calls.additional_properties = d
        return typical_calls

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
