from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.budget_left import BudgetLeft
    from ..models.budget_used import BudgetUsed


T = TypeVar("T", bound="Budget")


@_attrs_define
class Budget:
    """The monthly limits of all questions and searches together, and what is used and left.

    Attributes:
        object_ (str): Always `budget`. Default: 'budget'.
        max_tokens (int | None): Maximum of prompt and completion tokens together.
        max_seconds (float | None): Maximum time of model calls, in seconds.
        start_at (datetime.datetime): Start of the current budget month.
        end_at (datetime.datetime): Start of the next month.
        used (BudgetUsed): What questions and searches consumed this month.
        left (BudgetLeft): What may still be consumed this month. A value without a limit is null.
    """

    max_tokens: int | None
    max_seconds: float | None
    start_at: datetime.datetime
    end_at: datetime.datetime
    used: BudgetUsed
    left: BudgetLeft
    object_: str = "budget"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_ = self.object_

        max_tokens: int | None
        max_tokens = self.max_tokens

        max_seconds: float | None
        max_seconds = self.max_seconds

        start_at = self.start_at.isoformat()

        end_at = self.end_at.isoformat()

        used = self.used.to_dict()

        left = self.left.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "max_tokens": max_tokens,
                "max_seconds": max_seconds,
                "start_at": start_at,
                "end_at": end_at,
                "used": used,
                "left": left,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.budget_left import BudgetLeft  # noqa: PLC0415
        from ..models.budget_used import BudgetUsed  # noqa: PLC0415

        d = dict(src_dict)
        object_ = d.pop("object")

        def _parse_max_tokens(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_tokens = _parse_max_tokens(d.pop("max_tokens"))

        def _parse_max_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        max_seconds = _parse_max_seconds(d.pop("max_seconds"))

        start_at = datetime.datetime.fromisoformat(d.pop("start_at"))

        end_at = datetime.datetime.fromisoformat(d.pop("end_at"))

        used = BudgetUsed.from_dict(d.pop("used"))

        left = BudgetLeft.from_dict(d.pop("left"))

        budget = cls(
            object_=object_,
            max_tokens=max_tokens,
            max_seconds=max_seconds,
            start_at=start_at,
            end_at=end_at,
            used=used,
            left=left,
        )

        budget.additional_properties = d
        return budget

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
