from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.feedback import Feedback


T = TypeVar("T", bound="TraceOutcome")


@_attrs_define
class TraceOutcome:
    """How a question ended: the first line of a trace.

    Attributes:
        object_ (str): Always `outcome`. Default: 'outcome'.
        question_id (str): Id of the question.
        status (str): `queued` and `running` questions are open. Known values: `queued`, `running`, `succeeded`,
            `failed`, `canceled`. Others may follow.
        question (str): The question.
        choices (list[str]): Choices; empty for an open question.
        video_ids (list[str]): Videos of the scope.
        method (str): The answering method. Known values: `ava`, `uniform`, `vector`, `caption_rag`, `dvd_lite`,
            `videoagent`, `avataar`, `avp_lite`, `videoagent_mem`, `ravu`. Others may follow.
        effort (str): The effort that was asked for. Known values: `low`, `medium`, `high`, `paper`. Others may follow.
        method_version (str): Version of the method.
        prompts (str): Digest of the wording of the prompts.
        answer (str): The answer; empty if there is none.
        choice (int | None): Index of the chosen choice, from 0.
        finish_reason (None | str): Why the search ended; null while the question is open. Known values: `answered`,
            `insufficient_evidence`, `budget`, `refused`, `error`, `canceled`. Others may follow.
        finish_detail (None | str): Code behind a reason other than `answered`.
        confidence (float | None): Measured chance that the answer is right, 0 to 1.
        decided_by (str): How the answer was drawn: `votes` of samples, `support` of the choices by the events, a single
            `sample`, or the name of a route; empty without an answer.
        feedback (Feedback | None): Your feedback on the answer; null without any.
    """

    question_id: str
    status: str
    question: str
    choices: list[str]
    video_ids: list[str]
    method: str
    effort: str
    method_version: str
    prompts: str
    answer: str
    choice: int | None
    finish_reason: None | str
    finish_detail: None | str
    confidence: float | None
    decided_by: str
    feedback: Feedback | None
    object_: str = "outcome"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.feedback import Feedback  # noqa: PLC0415

        object_ = self.object_

        question_id = self.question_id

        status = self.status

        question = self.question

        choices = self.choices

        video_ids = self.video_ids

        method = self.method

        effort = self.effort

        method_version = self.method_version

        prompts = self.prompts

        answer = self.answer

        choice: int | None
        choice = self.choice

        finish_reason: None | str
        finish_reason = self.finish_reason

        finish_detail: None | str
        finish_detail = self.finish_detail

        confidence: float | None
        confidence = self.confidence

        decided_by = self.decided_by

        feedback: dict[str, Any] | None
        if isinstance(self.feedback, Feedback):
            feedback = self.feedback.to_dict()
        else:
            feedback = self.feedback

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "question_id": question_id,
                "status": status,
                "question": question,
                "choices": choices,
                "video_ids": video_ids,
                "method": method,
                "effort": effort,
                "method_version": method_version,
                "prompts": prompts,
                "answer": answer,
                "choice": choice,
                "finish_reason": finish_reason,
                "finish_detail": finish_detail,
                "confidence": confidence,
                "decided_by": decided_by,
                "feedback": feedback,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.feedback import Feedback  # noqa: PLC0415

        d = dict(src_dict)
        object_ = d.pop("object")

        question_id = d.pop("question_id")

        status = d.pop("status")

        question = d.pop("question")

        choices = cast(list[str], d.pop("choices"))

        video_ids = cast(list[str], d.pop("video_ids"))

        method = d.pop("method")

        effort = d.pop("effort")

        method_version = d.pop("method_version")

        prompts = d.pop("prompts")

        answer = d.pop("answer")

        def _parse_choice(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        choice = _parse_choice(d.pop("choice"))

        def _parse_finish_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        finish_reason = _parse_finish_reason(d.pop("finish_reason"))

        def _parse_finish_detail(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        finish_detail = _parse_finish_detail(d.pop("finish_detail"))

        def _parse_confidence(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        confidence = _parse_confidence(d.pop("confidence"))

        decided_by = d.pop("decided_by")

        def _parse_feedback(data: object) -> Feedback | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                feedback_type_0 = Feedback.from_dict(data)

                return feedback_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Feedback | None, data)

        feedback = _parse_feedback(d.pop("feedback"))

        trace_outcome = cls(
            object_=object_,
            question_id=question_id,
            status=status,
            question=question,
            choices=choices,
            video_ids=video_ids,
            method=method,
            effort=effort,
            method_version=method_version,
            prompts=prompts,
            answer=answer,
            choice=choice,
            finish_reason=finish_reason,
            finish_detail=finish_detail,
            confidence=confidence,
            decided_by=decided_by,
            feedback=feedback,
        )

        trace_outcome.additional_properties = d
        return trace_outcome

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
