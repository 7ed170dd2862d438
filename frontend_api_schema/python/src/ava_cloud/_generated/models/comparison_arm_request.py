from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.check_mode import CheckMode, check_check_mode
from ..models.effort import Effort, check_effort
from ..models.question_method import QuestionMethod, check_question_method
from ..types import UNSET, Unset

T = TypeVar("T", bound="ComparisonArmRequest")


@_attrs_define
class ComparisonArmRequest:
    """A method with its effort: one of the ways to answer that are compared.

    Attributes:
        method (QuestionMethod):
        effort (Effort | Unset):
        check (CheckMode | Unset):
        label (str | Unset): Your own name of the arm. By default the method with its effort.
    """

    method: QuestionMethod
    effort: Effort | Unset = UNSET
    check: CheckMode | Unset = UNSET
    label: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        method: str = self.method

        effort: str | Unset = UNSET
        if not isinstance(self.effort, Unset):
            effort = self.effort

        check: str | Unset = UNSET
        if not isinstance(self.check, Unset):
            check = self.check

        label = self.label

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "method": method,
            }
        )
        if effort is not UNSET:
            field_dict["effort"] = effort
        if check is not UNSET:
            field_dict["check"] = check
        if label is not UNSET:
            field_dict["label"] = label

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        method = check_question_method(d.pop("method"))

        _effort = d.pop("effort", UNSET)
        effort: Effort | Unset
        if isinstance(_effort, Unset):
            effort = UNSET
        else:
            effort = check_effort(_effort)

        _check = d.pop("check", UNSET)
        check: CheckMode | Unset
        if isinstance(_check, Unset):
            check = UNSET
        else:
            check = check_check_mode(_check)

        label = d.pop("label", UNSET)

        comparison_arm_request = cls(
            method=method,
            effort=effort,
            check=check,
            label=label,
        )

        comparison_arm_request.additional_properties = d
        return comparison_arm_request

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
