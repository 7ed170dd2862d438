from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.labeled_span_request import LabeledSpanRequest


T = TypeVar("T", bound="ComparisonItemRequest")


@_attrs_define
class ComparisonItemRequest:
    """A question that every arm is asked, with its right answer if you know it. No model is shown the labels.

    Attributes:
        question (str): The question in your own words.
        video_ids (list[str] | Unset): Videos to read. Give either these or a collection.
        collection_id (str | Unset): Collection to read, with the videos that it has now.
        start_ms (int | None | Unset): Begin of the span to read in each video, in milliseconds. By default the video's
            begin.
        end_ms (int | None | Unset): End of the span to read in each video, in milliseconds. By default the video's end.
        choices (list[str] | Unset): Answers to choose from, 2 to 26. Leave this out for an open question.
        correct_choice (int | Unset): Index of the right choice, from 0.
        correct_answer (str | Unset): The right answer in words. For a question with choices, the words of one of them.
        evidence (list[LabeledSpanRequest] | Unset): Spans that show the right answer, at most 50.
        kind (str | Unset): Your word for the sort of question, such as `counting`. Figures are also given by kind.
        external_id (str | Unset): Your own id of the question.
    """

    question: str
    video_ids: list[str] | Unset = UNSET
    collection_id: str | Unset = UNSET
    start_ms: int | None | Unset = UNSET
    end_ms: int | None | Unset = UNSET
    choices: list[str] | Unset = UNSET
    correct_choice: int | Unset = UNSET
    correct_answer: str | Unset = UNSET
    evidence: list[LabeledSpanRequest] | Unset = UNSET
    kind: str | Unset = UNSET
    external_id: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        question = self.question

        video_ids: list[str] | Unset = UNSET
        if not isinstance(self.video_ids, Unset):
            video_ids = self.video_ids

        collection_id = self.collection_id

        start_ms: int | None | Unset
        if isinstance(self.start_ms, Unset):
            start_ms = UNSET
        else:
            start_ms = self.start_ms

        end_ms: int | None | Unset
        if isinstance(self.end_ms, Unset):
            end_ms = UNSET
        else:
            end_ms = self.end_ms

        choices: list[str] | Unset = UNSET
        if not isinstance(self.choices, Unset):
            choices = self.choices

        correct_choice = self.correct_choice

        correct_answer = self.correct_answer

        evidence: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.evidence, Unset):
            evidence = []
            for evidence_item_data in self.evidence:
                evidence_item = evidence_item_data.to_dict()
                evidence.append(evidence_item)

        kind = self.kind

        external_id = self.external_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "question": question,
            }
        )
        if video_ids is not UNSET:
            field_dict["video_ids"] = video_ids
        if collection_id is not UNSET:
            field_dict["collection_id"] = collection_id
        if start_ms is not UNSET:
            field_dict["start_ms"] = start_ms
        if end_ms is not UNSET:
            field_dict["end_ms"] = end_ms
        if choices is not UNSET:
            field_dict["choices"] = choices
        if correct_choice is not UNSET:
            field_dict["correct_choice"] = correct_choice
        if correct_answer is not UNSET:
            field_dict["correct_answer"] = correct_answer
        if evidence is not UNSET:
            field_dict["evidence"] = evidence
        if kind is not UNSET:
            field_dict["kind"] = kind
        if external_id is not UNSET:
            field_dict["external_id"] = external_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.labeled_span_request import LabeledSpanRequest  # noqa: PLC0415

        d = dict(src_dict)
        question = d.pop("question")

        video_ids = cast(list[str], d.pop("video_ids", UNSET))

        collection_id = d.pop("collection_id", UNSET)

        def _parse_start_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        start_ms = _parse_start_ms(d.pop("start_ms", UNSET))

        def _parse_end_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        end_ms = _parse_end_ms(d.pop("end_ms", UNSET))

        choices = cast(list[str], d.pop("choices", UNSET))

        correct_choice = d.pop("correct_choice", UNSET)

        correct_answer = d.pop("correct_answer", UNSET)

        _evidence = d.pop("evidence", UNSET)
        evidence: list[LabeledSpanRequest] | Unset = UNSET
        if _evidence is not UNSET:
            evidence = []
            for evidence_item_data in _evidence:
                evidence_item = LabeledSpanRequest.from_dict(evidence_item_data)

                evidence.append(evidence_item)

        kind = d.pop("kind", UNSET)

        external_id = d.pop("external_id", UNSET)

        comparison_item_request = cls(
            question=question,
            video_ids=video_ids,
            collection_id=collection_id,
            start_ms=start_ms,
            end_ms=end_ms,
            choices=choices,
            correct_choice=correct_choice,
            correct_answer=correct_answer,
            evidence=evidence,
            kind=kind,
            external_id=external_id,
        )

        comparison_item_request.additional_properties = d
        return comparison_item_request

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
