from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.result_citation import ResultCitation


T = TypeVar("T", bound="ArmResult")


@_attrs_define
class ArmResult:
    """One arm's answer to the item in one repeat.

    Attributes:
        question_id (str): Question of this answer, with its trace.
        arm (int): Index of the arm.
        repeat (int): Number of the repeat, from 0.
        status (str): Status. Known values: `queued`, `running`, `succeeded`, `failed`, `canceled`. Others may follow.
        outcome (str): What the figures count. Known values: `right`, `wrong`, `ungraded`, `abstained`, `refused`,
            `failed`, `not_asked`, `open`. Others may follow.
        answer (str): The answer; empty if there is none.
        choice (int | None): Index of the chosen choice, from 0.
        confidence (float | None): Confidence, 0 to 1.
        finish_reason (str): Why the search ended: `answered`, `insufficient_evidence`, `budget`, `refused`, `error`,
            `canceled`; empty while open.
        finish_detail (str): Code behind the reason.
        error_code (str): Why the question failed, if it did.
        graded_by (str): Who graded the answer; empty if nobody.
        evidence_hit (bool | None): Whether a citation shows a labeled span; null without a label.
        evidence (list[ResultCitation]): The events that the answer cites.
        charge (str): Charge of the answer as an exact decimal.
        calls (int): Number of model calls.
        prompt_tokens (int): Tokens sent to models.
        cached_tokens (int): Tokens of the prompts that the server had cached, each answer's rounded down to thousands.
        completion_tokens (int): Tokens models wrote.
        frames (int): Frames that the answer looked at.
        engine_ms (int | None): Time of the whole answer, without the time in the queue.
        llm_ms (int | None): Time of the language model.
        degraded (list[str]): What the method had to do without.
    """

    question_id: str
    arm: int
    repeat: int
    status: str
    outcome: str
    answer: str
    choice: int | None
    confidence: float | None
    finish_reason: str
    finish_detail: str
    error_code: str
    graded_by: str
    evidence_hit: bool | None
    evidence: list[ResultCitation]
    charge: str
    calls: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    frames: int
    engine_ms: int | None
    llm_ms: int | None
    degraded: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        question_id = self.question_id

        arm = self.arm

        repeat = self.repeat

        status = self.status

        outcome = self.outcome

        answer = self.answer

        choice: int | None
        choice = self.choice

        confidence: float | None
        confidence = self.confidence

        finish_reason = self.finish_reason

        finish_detail = self.finish_detail

        error_code = self.error_code

        graded_by = self.graded_by

        evidence_hit: bool | None
        evidence_hit = self.evidence_hit

        evidence = []
        for evidence_item_data in self.evidence:
            evidence_item = evidence_item_data.to_dict()
            evidence.append(evidence_item)

        charge = self.charge

        calls = self.calls

        prompt_tokens = self.prompt_tokens

        cached_tokens = self.cached_tokens

        completion_tokens = self.completion_tokens

        frames = self.frames

        engine_ms: int | None
        engine_ms = self.engine_ms

        llm_ms: int | None
        llm_ms = self.llm_ms

        degraded = self.degraded

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "question_id": question_id,
                "arm": arm,
                "repeat": repeat,
                "status": status,
                "outcome": outcome,
                "answer": answer,
                "choice": choice,
                "confidence": confidence,
                "finish_reason": finish_reason,
                "finish_detail": finish_detail,
                "error_code": error_code,
                "graded_by": graded_by,
                "evidence_hit": evidence_hit,
                "evidence": evidence,
                "charge": charge,
                "calls": calls,
                "prompt_tokens": prompt_tokens,
                "cached_tokens": cached_tokens,
                "completion_tokens": completion_tokens,
                "frames": frames,
                "engine_ms": engine_ms,
                "llm_ms": llm_ms,
                "degraded": degraded,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.result_citation import ResultCitation  # noqa: PLC0415

        d = dict(src_dict)
        question_id = d.pop("question_id")

        arm = d.pop("arm")

        repeat = d.pop("repeat")

        status = d.pop("status")

        outcome = d.pop("outcome")

        answer = d.pop("answer")

        def _parse_choice(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        choice = _parse_choice(d.pop("choice"))

        def _parse_confidence(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        confidence = _parse_confidence(d.pop("confidence"))

        finish_reason = d.pop("finish_reason")

        finish_detail = d.pop("finish_detail")

        error_code = d.pop("error_code")

        graded_by = d.pop("graded_by")

        def _parse_evidence_hit(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        evidence_hit = _parse_evidence_hit(d.pop("evidence_hit"))

        evidence = []
        _evidence = d.pop("evidence")
        for evidence_item_data in _evidence:
            evidence_item = ResultCitation.from_dict(evidence_item_data)

            evidence.append(evidence_item)

        charge = d.pop("charge")

        calls = d.pop("calls")

        prompt_tokens = d.pop("prompt_tokens")

        cached_tokens = d.pop("cached_tokens")

        completion_tokens = d.pop("completion_tokens")

        frames = d.pop("frames")

        def _parse_engine_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        engine_ms = _parse_engine_ms(d.pop("engine_ms"))

        def _parse_llm_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        llm_ms = _parse_llm_ms(d.pop("llm_ms"))

        degraded = cast(list[str], d.pop("degraded"))

        arm_result = cls(
            question_id=question_id,
            arm=arm,
            repeat=repeat,
            status=status,
            outcome=outcome,
            answer=answer,
            choice=choice,
            confidence=confidence,
            finish_reason=finish_reason,
            finish_detail=finish_detail,
            error_code=error_code,
            graded_by=graded_by,
            evidence_hit=evidence_hit,
            evidence=evidence,
            charge=charge,
            calls=calls,
            prompt_tokens=prompt_tokens,
            cached_tokens=cached_tokens,
            completion_tokens=completion_tokens,
            frames=frames,
            engine_ms=engine_ms,
            llm_ms=llm_ms,
            degraded=degraded,
        )

        arm_result.additional_properties = d
        return arm_result

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
