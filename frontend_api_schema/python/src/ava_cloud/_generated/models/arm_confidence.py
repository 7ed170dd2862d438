from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ArmConfidence")


@_attrs_define
class ArmConfidence:
    """How well an arm's confidence separates right from wrong answers.

    Attributes:
        auroc (float | None): How often a right answer is more confident than a wrong one; null if either kind is
            missing.
        calibration_error (float): Mean gap of confidence and accuracy, 0 to 1.
        n (int): Graded answers.
    """

    auroc: float | None
    calibration_error: float
    n: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        auroc: float | None
        auroc = self.auroc

        calibration_error = self.calibration_error

        n = self.n

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "auroc": auroc,
                "calibration_error": calibration_error,
                "n": n,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_auroc(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        auroc = _parse_auroc(d.pop("auroc"))

        calibration_error = d.pop("calibration_error")

        n = d.pop("n")

        arm_confidence = cls(
            auroc=auroc,
            calibration_error=calibration_error,
            n=n,
        )

        arm_confidence.additional_properties = d
        return arm_confidence

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
