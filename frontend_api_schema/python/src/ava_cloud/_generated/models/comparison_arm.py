from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ComparisonArm")


@_attrs_define
class ComparisonArm:
    """An arm of a comparison.

    Attributes:
        label (str): Name of the arm.
        method (str): Answering method, one of `GET /v1/methods`. `ava` searches the Event Knowledge Graph by default.
            Known values: `ava`, `uniform`, `vector`, `caption_rag`, `dvd_lite`, `videoagent`, `avataar`, `avp_lite`,
            `videoagent_mem`, `ravu`. Others may follow.
        effort (str): How much the search may consume: `low`, `medium`, `high`, or `paper` for the settings of the
            method's own paper. Known values: `low`, `medium`, `high`, `paper`. Others may follow.
        check (str): How method `ava` looks again when its answer is in doubt. Other methods take only `auto`. Known
            values: `auto`, `off`, `frames`, `inspect`. Others may follow.
    """

    label: str
    method: str
    effort: str
    check: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        label = self.label

        method = self.method

        effort = self.effort

        check = self.check

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "label": label,
                "method": method,
                "effort": effort,
                "check": check,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        label = d.pop("label")

        method = d.pop("method")

        effort = d.pop("effort")

        check = d.pop("check")

        comparison_arm = cls(
            label=label,
            method=method,
            effort=effort,
            check=check,
        )

        comparison_arm.additional_properties = d
        return comparison_arm

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
