from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.effort import Effort, check_effort
from ..models.grading_enum import GradingEnum, check_grading_enum
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.comparison_arm_request import ComparisonArmRequest
    from ..models.comparison_item_request import ComparisonItemRequest
    from ..models.comparison_request_metadata import ComparisonRequestMetadata
    from ..models.question_budget_request import QuestionBudgetRequest


T = TypeVar("T", bound="ComparisonRequest")


@_attrs_define
class ComparisonRequest:
    """Questions and the arms that answer each of them.

    Attributes:
        questions (list[ComparisonItemRequest]): Questions to ask. Questions times arms times repeats are at most 2000.
        arms (list[ComparisonArmRequest]): Arms to compare, 2 to 8 that differ. Pairs are formed with the first arm.
        name (str | Unset): Your own name of the comparison.
        video_ids (list[str] | Unset): Videos to read for questions that name neither videos nor a collection.
        collection_id (str | Unset): Collection to read for questions that name neither videos nor a collection.
        effort (Effort | Unset):
        seed (int | Unset): Seed of the sampling, and of the order of the arms. By default `0`.
        repeats (int | Unset): How often each arm is asked each question, 1 to 3. By default `1`.
        budget (QuestionBudgetRequest | Unset): Limits of one question. A limit that is left out does not apply.
        max_total_charge (str | Unset): Charge of all answers above which the questions that are still open are
            canceled, in the currency of your prices. Answers that are being made when it is passed are canceled, too.
        grading (GradingEnum | Unset):
        external_id (str | Unset): Your own id of the comparison.
        metadata (ComparisonRequestMetadata | Unset): Your own labels of the comparison.
    """

    questions: list[ComparisonItemRequest]
    arms: list[ComparisonArmRequest]
    name: str | Unset = UNSET
    video_ids: list[str] | Unset = UNSET
    collection_id: str | Unset = UNSET
    effort: Effort | Unset = UNSET
    seed: int | Unset = UNSET
    repeats: int | Unset = UNSET
    budget: QuestionBudgetRequest | Unset = UNSET
    max_total_charge: str | Unset = UNSET
    grading: GradingEnum | Unset = UNSET
    external_id: str | Unset = UNSET
    metadata: ComparisonRequestMetadata | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        questions = []
        for questions_item_data in self.questions:
            questions_item = questions_item_data.to_dict()
            questions.append(questions_item)

        arms = []
        for arms_item_data in self.arms:
            arms_item = arms_item_data.to_dict()
            arms.append(arms_item)

        name = self.name

        video_ids: list[str] | Unset = UNSET
        if not isinstance(self.video_ids, Unset):
            video_ids = self.video_ids

        collection_id = self.collection_id

        effort: str | Unset = UNSET
        if not isinstance(self.effort, Unset):
            effort = self.effort

        seed = self.seed

        repeats = self.repeats

        budget: dict[str, Any] | Unset = UNSET
        if not isinstance(self.budget, Unset):
            budget = self.budget.to_dict()

        max_total_charge = self.max_total_charge

        grading: str | Unset = UNSET
        if not isinstance(self.grading, Unset):
            grading = self.grading

        external_id = self.external_id

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "questions": questions,
                "arms": arms,
            }
        )
        if name is not UNSET:
            field_dict["name"] = name
        if video_ids is not UNSET:
            field_dict["video_ids"] = video_ids
        if collection_id is not UNSET:
            field_dict["collection_id"] = collection_id
        if effort is not UNSET:
            field_dict["effort"] = effort
        if seed is not UNSET:
            field_dict["seed"] = seed
        if repeats is not UNSET:
            field_dict["repeats"] = repeats
        if budget is not UNSET:
            field_dict["budget"] = budget
        if max_total_charge is not UNSET:
            field_dict["max_total_charge"] = max_total_charge
        if grading is not UNSET:
            field_dict["grading"] = grading
        if external_id is not UNSET:
            field_dict["external_id"] = external_id
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.comparison_arm_request import ComparisonArmRequest  # noqa: PLC0415
        from ..models.comparison_item_request import ComparisonItemRequest  # noqa: PLC0415
        from ..models.comparison_request_metadata import ComparisonRequestMetadata  # noqa: PLC0415
        from ..models.question_budget_request import QuestionBudgetRequest  # noqa: PLC0415

        d = dict(src_dict)
        questions = []
        _questions = d.pop("questions")
        for questions_item_data in _questions:
            questions_item = ComparisonItemRequest.from_dict(questions_item_data)

            questions.append(questions_item)

        arms = []
        _arms = d.pop("arms")
        for arms_item_data in _arms:
            arms_item = ComparisonArmRequest.from_dict(arms_item_data)

            arms.append(arms_item)

        name = d.pop("name", UNSET)

        video_ids = cast(list[str], d.pop("video_ids", UNSET))

        collection_id = d.pop("collection_id", UNSET)

        _effort = d.pop("effort", UNSET)
        effort: Effort | Unset
        if isinstance(_effort, Unset):
            effort = UNSET
        else:
            effort = check_effort(_effort)

        seed = d.pop("seed", UNSET)

        repeats = d.pop("repeats", UNSET)

        _budget = d.pop("budget", UNSET)
        budget: QuestionBudgetRequest | Unset
        if isinstance(_budget, Unset):
            budget = UNSET
        else:
            budget = QuestionBudgetRequest.from_dict(_budget)

        max_total_charge = d.pop("max_total_charge", UNSET)

        _grading = d.pop("grading", UNSET)
        grading: GradingEnum | Unset
        if isinstance(_grading, Unset):
            grading = UNSET
        else:
            grading = check_grading_enum(_grading)

        external_id = d.pop("external_id", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: ComparisonRequestMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = ComparisonRequestMetadata.from_dict(_metadata)

        comparison_request = cls(
            questions=questions,
            arms=arms,
            name=name,
            video_ids=video_ids,
            collection_id=collection_id,
            effort=effort,
            seed=seed,
            repeats=repeats,
            budget=budget,
            max_total_charge=max_total_charge,
            grading=grading,
            external_id=external_id,
            metadata=metadata,
        )

        comparison_request.additional_properties = d
        return comparison_request

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
