from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.effort import Effort, check_effort
from ..models.priority_enum import PriorityEnum, check_priority_enum
from ..models.question_method import QuestionMethod, check_question_method
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.batch_question_request import BatchQuestionRequest
    from ..models.question_batch_request_metadata import QuestionBatchRequestMetadata
    from ..models.question_budget_request import QuestionBudgetRequest


T = TypeVar("T", bound="QuestionBatchRequest")


@_attrs_define
class QuestionBatchRequest:
    """Questions that are asked together, with defaults for the parts that a question leaves out.

    Attributes:
        questions (list[BatchQuestionRequest]): Questions to ask, 1 to 1000.
        video_ids (list[str] | Unset): Videos to read for questions that name neither videos nor a collection.
        collection_id (str | Unset): Collection to read for questions that name neither videos nor a collection.
        method (QuestionMethod | Unset):
        effort (Effort | Unset):
        budget (QuestionBudgetRequest | Unset): Limits of one question. A limit that is left out does not apply.
        external_id (str | Unset): Your own id of the batch.
        metadata (QuestionBatchRequestMetadata | Unset): Your own labels of the batch.
        priority (PriorityEnum | Unset):
        deadline_at (datetime.datetime | Unset): When questions fail that have no answer by then: after a day.
    """

    questions: list[BatchQuestionRequest]
    video_ids: list[str] | Unset = UNSET
    collection_id: str | Unset = UNSET
    method: QuestionMethod | Unset = UNSET
    effort: Effort | Unset = UNSET
    budget: QuestionBudgetRequest | Unset = UNSET
    external_id: str | Unset = UNSET
    metadata: QuestionBatchRequestMetadata | Unset = UNSET
    priority: PriorityEnum | Unset = UNSET
    deadline_at: datetime.datetime | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        questions = []
        for questions_item_data in self.questions:
            questions_item = questions_item_data.to_dict()
            questions.append(questions_item)

        video_ids: list[str] | Unset = UNSET
        if not isinstance(self.video_ids, Unset):
            video_ids = self.video_ids

        collection_id = self.collection_id

        method: str | Unset = UNSET
        if not isinstance(self.method, Unset):
            method = self.method

        effort: str | Unset = UNSET
        if not isinstance(self.effort, Unset):
            effort = self.effort

        budget: dict[str, Any] | Unset = UNSET
        if not isinstance(self.budget, Unset):
            budget = self.budget.to_dict()

        external_id = self.external_id

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        priority: str | Unset = UNSET
        if not isinstance(self.priority, Unset):
            priority = self.priority

        deadline_at: str | Unset = UNSET
        if not isinstance(self.deadline_at, Unset):
            deadline_at = self.deadline_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "questions": questions,
            }
        )
        if video_ids is not UNSET:
            field_dict["video_ids"] = video_ids
        if collection_id is not UNSET:
            field_dict["collection_id"] = collection_id
        if method is not UNSET:
            field_dict["method"] = method
        if effort is not UNSET:
            field_dict["effort"] = effort
        if budget is not UNSET:
            field_dict["budget"] = budget
        if external_id is not UNSET:
            field_dict["external_id"] = external_id
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if priority is not UNSET:
            field_dict["priority"] = priority
        if deadline_at is not UNSET:
            field_dict["deadline_at"] = deadline_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.batch_question_request import BatchQuestionRequest  # noqa: PLC0415
        from ..models.question_batch_request_metadata import QuestionBatchRequestMetadata  # noqa: PLC0415
        from ..models.question_budget_request import QuestionBudgetRequest  # noqa: PLC0415

        d = dict(src_dict)
        questions = []
        _questions = d.pop("questions")
        for questions_item_data in _questions:
            questions_item = BatchQuestionRequest.from_dict(questions_item_data)

            questions.append(questions_item)

        video_ids = cast(list[str], d.pop("video_ids", UNSET))

        collection_id = d.pop("collection_id", UNSET)

        _method = d.pop("method", UNSET)
        method: QuestionMethod | Unset
        if isinstance(_method, Unset):
            method = UNSET
        else:
            method = check_question_method(_method)

        _effort = d.pop("effort", UNSET)
        effort: Effort | Unset
        if isinstance(_effort, Unset):
            effort = UNSET
        else:
            effort = check_effort(_effort)

        _budget = d.pop("budget", UNSET)
        budget: QuestionBudgetRequest | Unset
        if isinstance(_budget, Unset):
            budget = UNSET
        else:
            budget = QuestionBudgetRequest.from_dict(_budget)

        external_id = d.pop("external_id", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: QuestionBatchRequestMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = QuestionBatchRequestMetadata.from_dict(_metadata)

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

        question_batch_request = cls(
            questions=questions,
            video_ids=video_ids,
            collection_id=collection_id,
            method=method,
            effort=effort,
            budget=budget,
            external_id=external_id,
            metadata=metadata,
            priority=priority,
            deadline_at=deadline_at,
        )

        question_batch_request.additional_properties = d
        return question_batch_request

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
