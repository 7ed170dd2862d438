from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Candidate")


@_attrs_define
class Candidate:
    """One sampled answer of a node, with its reasoning and its scores.

    Attributes:
        answer (str): The sampled answer; empty if the sample has none.
        choice (int | None): Index of the chosen choice, from 0.
        reasoning (str): The reasoning that the model gave.
        agreement (float | None): Share of the node's samples that agree, 0 to 1.
        coherence (float | None): Similarity of this reasoning to the reasoning of agreeing samples, 0 to 1.
        score (float | None): Agreement and coherence combined, 0 to 1.
    """

    answer: str
    choice: int | None
    reasoning: str
    agreement: float | None
    coherence: float | None
    score: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        answer = self.answer

        choice: int | None
        choice = self.choice

        reasoning = self.reasoning

        agreement: float | None
        agreement = self.agreement

        coherence: float | None
        coherence = self.coherence

        score: float | None
        score = self.score

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "answer": answer,
                "choice": choice,
                "reasoning": reasoning,
                "agreement": agreement,
                "coherence": coherence,
                "score": score,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        answer = d.pop("answer")

        def _parse_choice(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        choice = _parse_choice(d.pop("choice"))

        reasoning = d.pop("reasoning")

        def _parse_agreement(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        agreement = _parse_agreement(d.pop("agreement"))

        def _parse_coherence(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        coherence = _parse_coherence(d.pop("coherence"))

        def _parse_score(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        score = _parse_score(d.pop("score"))

        candidate = cls(
            answer=answer,
            choice=choice,
            reasoning=reasoning,
            agreement=agreement,
            coherence=coherence,
            score=score,
        )

        candidate.additional_properties = d
        return candidate

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
