from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.priority_enum import PriorityEnum, check_priority_enum
from ..types import UNSET, Unset

T = TypeVar("T", bound="QuestionUpdateRequest")


@_attrs_define
class QuestionUpdateRequest:
    """Changes of a question, or of all questions of a batch, that have no outcome.

    Attributes:
        priority (PriorityEnum | Unset):
        deadline_at (datetime.datetime | Unset): When it fails if it has no answer by then.
    """

    priority: PriorityEnum | Unset = UNSET
    deadline_at: datetime.datetime | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        priority: str | Unset = UNSET
        if not isinstance(self.priority, Unset):
            priority = self.priority

        deadline_at: str | Unset = UNSET
        if not isinstance(self.deadline_at, Unset):
            deadline_at = self.deadline_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if priority is not UNSET:
            field_dict["priority"] = priority
        if deadline_at is not UNSET:
            field_dict["deadline_at"] = deadline_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        _priority = d.pop("priority", UNSET)
        priority: PriorityEnum | Unset
        if isinstance(_priority, Unset):
            priority = UNSET
        else:
            priority = check_priority_enum(_priority)

        _deadline_at = d.pop("deadline_at", UNSET)
        deadline_at: datetime.datetime | Unset
        if isinstance(_deadline_at, Unset):
            deadline_at = UNSET
        else:
            deadline_at = datetime.datetime.fromisoformat(_deadline_at)

        question_update_request = cls(
            priority=priority,
            deadline_at=deadline_at,
        )

        question_update_request.additional_properties = d
        return question_update_request

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
