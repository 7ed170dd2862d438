from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.arm_result import ArmResult
    from ..models.labeled_span import LabeledSpan


T = TypeVar("T", bound="ComparisonResult")


@_attrs_define
class ComparisonResult:
    """One line of the results: an item with the answers of every arm.

    Attributes:
        position (int): Position of the item, from 0.
        external_id (str): Your own id of the item.
        question (str): The question.
        choices (list[str]): Its choices.
        kind (str): Your kind of question.
        correct_choice (int | None): Index of the right choice; null without a label.
        correct_answer (str): The right answer, if you gave it.
        labeled_evidence (list[LabeledSpan]): Spans in which the right answer is seen.
        left_out (str): Why the item is in no arm's figures (video_deleted); empty if it is in them.
        outcomes (list[str]): Outcome of the item in each arm, in the order of arms; an item that is repeated has one.
        answers (list[ArmResult]): Answers by arm and repeat.
    """

    position: int
    external_id: str
    question: str
    choices: list[str]
    kind: str
    correct_choice: int | None
    correct_answer: str
    labeled_evidence: list[LabeledSpan]
    left_out: str
    outcomes: list[str]
    answers: list[ArmResult]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        position = self.position

        external_id = self.external_id

        question = self.question

        choices = self.choices

        kind = self.kind

        correct_choice: int | None
        correct_choice = self.correct_choice

        correct_answer = self.correct_answer

        labeled_evidence = []
        for labeled_evidence_item_data in self.labeled_evidence:
            labeled_evidence_item = labeled_evidence_item_data.to_dict()
            labeled_evidence.append(labeled_evidence_item)

        left_out = self.left_out

        outcomes = self.outcomes

        answers = []
        for answers_item_data in self.answers:
            answers_item = answers_item_data.to_dict()
            answers.append(answers_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "position": position,
                "external_id": external_id,
                "question": question,
                "choices": choices,
                "kind": kind,
                "correct_choice": correct_choice,
                "correct_answer": correct_answer,
                "labeled_evidence": labeled_evidence,
                "left_out": left_out,
                "outcomes": outcomes,
                "answers": answers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.arm_result import ArmResult  # noqa: PLC0415
        from ..models.labeled_span import LabeledSpan  # noqa: PLC0415

        d = dict(src_dict)
        position = d.pop("position")

        external_id = d.pop("external_id")

        question = d.pop("question")

        choices = cast(list[str], d.pop("choices"))

        kind = d.pop("kind")

        def _parse_correct_choice(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        correct_choice = _parse_correct_choice(d.pop("correct_choice"))

        correct_answer = d.pop("correct_answer")

        labeled_evidence = []
        _labeled_evidence = d.pop("labeled_evidence")
        for labeled_evidence_item_data in _labeled_evidence:
            labeled_evidence_item = LabeledSpan.from_dict(labeled_evidence_item_data)

            labeled_evidence.append(labeled_evidence_item)

        left_out = d.pop("left_out")

        outcomes = cast(list[str], d.pop("outcomes"))

        answers = []
        _answers = d.pop("answers")
        for answers_item_data in _answers:
            answers_item = ArmResult.from_dict(answers_item_data)

            answers.append(answers_item)

        comparison_result = cls(
            position=position,
            external_id=external_id,
            question=question,
            choices=choices,
            kind=kind,
            correct_choice=correct_choice,
            correct_answer=correct_answer,
            labeled_evidence=labeled_evidence,
            left_out=left_out,
            outcomes=outcomes,
            answers=answers,
        )

        comparison_result.additional_properties = d
        return comparison_result

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
