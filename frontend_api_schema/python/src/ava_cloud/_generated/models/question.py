from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.charge import Charge
    from ..models.claim import Claim
    from ..models.composition import Composition
    from ..models.evidence import Evidence
    from ..models.feedback import Feedback
    from ..models.model_usage import ModelUsage
    from ..models.node import Node
    from ..models.partial_answer import PartialAnswer
    from ..models.progress import Progress
    from ..models.question_budget import QuestionBudget
    from ..models.question_metadata import QuestionMetadata
    from ..models.question_models import QuestionModels
    from ..models.question_timings_type_0 import QuestionTimingsType0
    from ..models.resource_error import ResourceError
    from ..models.understood import Understood


T = TypeVar("T", bound="Question")


@_attrs_define
class Question:
    """A question with its answer, its evidence and what it consumed.

    Attributes:
        id (str): Id of the question.
        object_ (str): Always `question`. Default: 'question'.
        status (str): `queued` and `running` questions are open; the others have their outcome. Known values: `queued`,
            `running`, `succeeded`, `failed`, `canceled`. Others may follow.
        stage (str): The stage that is worked on; empty without one.
        progress (None | Progress): Progress of an open question.
        priority (None | str): Order among your own jobs of the same kind: `high` before `normal` before `low`. Jobs of
            other customers neither gain nor lose by it. Null once the question has its outcome. Known values: `low`,
            `normal`, `high`. Others may follow.
        deadline_at (datetime.datetime | None): When an open question fails if it has no answer by then.
        paused_at (datetime.datetime | None): When an open question was paused; null if it is not.
        question (str): The question.
        choices (list[str]): Choices; empty for an open question.
        video_ids (list[str]): Videos of the scope.
        start_ms (int | None): Begin of the span that is read in each video.
        end_ms (int | None): End of the span that is read in each video.
        method (str): Answering method, one of `GET /v1/methods`. `ava` searches the Event Knowledge Graph by default.
            Known values: `ava`, `uniform`, `vector`, `caption_rag`, `dvd_lite`, `videoagent`, `avataar`, `avp_lite`,
            `videoagent_mem`, `ravu`. Others may follow.
        effort (str): How much the search may consume: `low`, `medium`, `high`, or `paper` for the settings of the
            method's own paper. Known values: `low`, `medium`, `high`, `paper`. Others may follow.
        check (str): How method `ava` looks again when its answer is in doubt. Known values: `auto`, `off`, `frames`,
            `inspect`. Others may follow.
        route (str): The route that was asked for; `auto` without a wish. Known values: `auto`, `search`, `time`,
            `whole`, `scan`, `objects`. Others may follow.
        language (str): Language of the answer by its ISO 639-1 code: as you gave it, or as the question's words show
            it; empty while it is unknown.
        budget (QuestionBudget): Limits of one question. A limit that is left out does not apply.
        seed (int): Seed of the sampling.
        external_id (str): Your own id of the question.
        metadata (QuestionMetadata): Your own labels of the question.
        batch_id (None | str): Batch of the question, if it has one.
        comparison_id (None | str): Comparison of the question, if it has one.
        session_id (None | str): Session of the question, if it has one.
        turn (int | None): Position of the question in its session, from 1.
        standalone_question (None | str): The wording of a follow-up that the search used, with its references written
            out.
        understood (None | Understood): What the question's words were taken to ask for; null without an answer.
        answer (str): The answer; empty if there is none. See `finish_detail` for a text that is `unsupported`.
        choice (int | None): Index of the chosen choice, from 0.
        finish_reason (None | str): Why the search ended; null while the question is open. Known values: `answered`,
            `insufficient_evidence`, `budget`, `refused`, `error`, `canceled`. Others may follow.
        finish_detail (None | str): Code behind a reason other than `answered`, such as `max_tokens`. `unsupported`
            comes with a text that nothing stands behind: no statement of it is supported, or it only repeats the question.
        confidence (float | None): Measured chance that the answer is right, 0 to 1. Null while the question is open,
            without an answer, and where nothing was calibrated for answers of this kind by these models.
        claims (list[Claim]): The statements of the answer, with the evidence of each.
        composition (Composition | None): The answer in parts if the question asks for a list, steps, a table, a count
            or a summary; null for a sentence. In the text `[1, 3]` counts the evidence from 1.
        evidence (list[Evidence]): The events that the answer cites, ordered by strength and then by time.
        notes (list[str]): What the answer had to do without, what was not looked at and why the search ended, in words.
        partial_answer (None | PartialAnswer): The best answer so far, while the search runs. A question that has shown
            one is charged however it ends, and keeps it if it ends without an answer.
        usage (ModelUsage | None): What the answer consumed; null while there is none.
        charge (Charge): What is charged, by the price list. Allowances, tiers, credits and tax are lines of the
            invoice.
        timings (None | QuestionTimingsType0): Durations in milliseconds: `queue_ms`, `engine_ms`, `llm_ms`, `total_ms`,
            and one for each stage, such as `search_ms`.
        models (QuestionModels): Names of the models by their roles.
        method_version (str): Version of the method that answered; empty without an answer.
        prompts (str): Digest of the wording of the service's prompts, 16 hex digits; empty without an answer.
        degraded (list[str]): Codes of what the method had to do without, such as `no_speech` (docs/errors.md).
        error (None | ResourceError): Why the question failed; null if it did not.
        feedback (Feedback | None): Your feedback on the answer; null without any.
        created_at (datetime.datetime): When the question was asked.
        started_at (datetime.datetime | None): When work on the question began.
        completed_at (datetime.datetime | None): When the question got its outcome.
        trace (list[Node] | Unset): The search tree; only with `include=trace`.
    """

    id: str
    status: str
    stage: str
    progress: None | Progress
    priority: None | str
    deadline_at: datetime.datetime | None
    paused_at: datetime.datetime | None
    question: str
    choices: list[str]
    video_ids: list[str]
    start_ms: int | None
    end_ms: int | None
    method: str
    effort: str
    check: str
    route: str
    language: str
    budget: QuestionBudget
    seed: int
    external_id: str
    metadata: QuestionMetadata
    batch_id: None | str
    comparison_id: None | str
    session_id: None | str
    turn: int | None
    standalone_question: None | str
    understood: None | Understood
    answer: str
    choice: int | None
    finish_reason: None | str
    finish_detail: None | str
    confidence: float | None
    claims: list[Claim]
    composition: Composition | None
    evidence: list[Evidence]
    notes: list[str]
    partial_answer: None | PartialAnswer
    usage: ModelUsage | None
    charge: Charge
    timings: None | QuestionTimingsType0
    models: QuestionModels
    method_version: str
    prompts: str
    degraded: list[str]
    error: None | ResourceError
    feedback: Feedback | None
    created_at: datetime.datetime
    started_at: datetime.datetime | None
    completed_at: datetime.datetime | None
    object_: str = "question"
    trace: list[Node] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.composition import Composition  # noqa: PLC0415
        from ..models.feedback import Feedback  # noqa: PLC0415
        from ..models.model_usage import ModelUsage  # noqa: PLC0415
        from ..models.partial_answer import PartialAnswer  # noqa: PLC0415
        from ..models.progress import Progress  # noqa: PLC0415
        from ..models.question_timings_type_0 import QuestionTimingsType0  # noqa: PLC0415
        from ..models.resource_error import ResourceError  # noqa: PLC0415
        from ..models.understood import Understood  # noqa: PLC0415

        id = self.id

        object_ = self.object_

        status = self.status

        stage = self.stage

        progress: dict[str, Any] | None
        if isinstance(self.progress, Progress):
            progress = self.progress.to_dict()
        else:
            progress = self.progress

        priority: None | str
        priority = self.priority

        deadline_at: None | str
        if isinstance(self.deadline_at, datetime.datetime):
            deadline_at = self.deadline_at.isoformat()
        else:
            deadline_at = self.deadline_at

        paused_at: None | str
        if isinstance(self.paused_at, datetime.datetime):
            paused_at = self.paused_at.isoformat()
        else:
            paused_at = self.paused_at

        question = self.question

        choices = self.choices

        video_ids = self.video_ids

        start_ms: int | None
        start_ms = self.start_ms

        end_ms: int | None
        end_ms = self.end_ms

        method = self.method

        effort = self.effort

        check = self.check

        route = self.route

        language = self.language

        budget = self.budget.to_dict()

        seed = self.seed

        external_id = self.external_id

        metadata = self.metadata.to_dict()

        batch_id: None | str
        batch_id = self.batch_id

        comparison_id: None | str
        comparison_id = self.comparison_id

        session_id: None | str
        session_id = self.session_id

        turn: int | None
        turn = self.turn

        standalone_question: None | str
        standalone_question = self.standalone_question

        understood: dict[str, Any] | None
        if isinstance(self.understood, Understood):
            understood = self.understood.to_dict()
        else:
            understood = self.understood

        answer = self.answer

        choice: int | None
        choice = self.choice

        finish_reason: None | str
        finish_reason = self.finish_reason

        finish_detail: None | str
        finish_detail = self.finish_detail

        confidence: float | None
        confidence = self.confidence

        claims = []
        for claims_item_data in self.claims:
            claims_item = claims_item_data.to_dict()
            claims.append(claims_item)

        composition: dict[str, Any] | None
        if isinstance(self.composition, Composition):
            composition = self.composition.to_dict()
        else:
            composition = self.composition

        evidence = []
        for evidence_item_data in self.evidence:
            evidence_item = evidence_item_data.to_dict()
            evidence.append(evidence_item)

        notes = self.notes

        partial_answer: dict[str, Any] | None
        if isinstance(self.partial_answer, PartialAnswer):
            partial_answer = self.partial_answer.to_dict()
        else:
            partial_answer = self.partial_answer

        usage: dict[str, Any] | None
        if isinstance(self.usage, ModelUsage):
            usage = self.usage.to_dict()
        else:
            usage = self.usage

        charge = self.charge.to_dict()

        timings: dict[str, Any] | None
        if isinstance(self.timings, QuestionTimingsType0):
            timings = self.timings.to_dict()
        else:
            timings = self.timings

        models = self.models.to_dict()

        method_version = self.method_version

        prompts = self.prompts

        degraded = self.degraded

        error: dict[str, Any] | None
        if isinstance(self.error, ResourceError):
            error = self.error.to_dict()
        else:
            error = self.error

        feedback: dict[str, Any] | None
        if isinstance(self.feedback, Feedback):
            feedback = self.feedback.to_dict()
        else:
            feedback = self.feedback

        created_at = self.created_at.isoformat()

        started_at: None | str
        if isinstance(self.started_at, datetime.datetime):
            started_at = self.started_at.isoformat()
        else:
            started_at = self.started_at

        completed_at: None | str
        if isinstance(self.completed_at, datetime.datetime):
            completed_at = self.completed_at.isoformat()
        else:
            completed_at = self.completed_at

        trace: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.trace, Unset):
            trace = []
            for trace_item_data in self.trace:
                trace_item = trace_item_data.to_dict()
                trace.append(trace_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "status": status,
                "stage": stage,
                "progress": progress,
                "priority": priority,
                "deadline_at": deadline_at,
                "paused_at": paused_at,
                "question": question,
                "choices": choices,
                "video_ids": video_ids,
                "start_ms": start_ms,
                "end_ms": end_ms,
                "method": method,
                "effort": effort,
                "check": check,
                "route": route,
                "language": language,
                "budget": budget,
                "seed": seed,
                "external_id": external_id,
                "metadata": metadata,
                "batch_id": batch_id,
                "comparison_id": comparison_id,
                "session_id": session_id,
                "turn": turn,
                "standalone_question": standalone_question,
                "understood": understood,
                "answer": answer,
                "choice": choice,
                "finish_reason": finish_reason,
                "finish_detail": finish_detail,
                "confidence": confidence,
                "claims": claims,
                "composition": composition,
                "evidence": evidence,
                "notes": notes,
                "partial_answer": partial_answer,
                "usage": usage,
                "charge": charge,
                "timings": timings,
                "models": models,
                "method_version": method_version,
                "prompts": prompts,
                "degraded": degraded,
                "error": error,
                "feedback": feedback,
                "created_at": created_at,
                "started_at": started_at,
                "completed_at": completed_at,
            }
        )
        if trace is not UNSET:
            field_dict["trace"] = trace

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.charge import Charge  # noqa: PLC0415
        from ..models.claim import Claim  # noqa: PLC0415
        from ..models.composition import Composition  # noqa: PLC0415
        from ..models.evidence import Evidence  # noqa: PLC0415
        from ..models.feedback import Feedback  # noqa: PLC0415
        from ..models.model_usage import ModelUsage  # noqa: PLC0415
        from ..models.node import Node  # noqa: PLC0415
        from ..models.partial_answer import PartialAnswer  # noqa: PLC0415
        from ..models.progress import Progress  # noqa: PLC0415
        from ..models.question_budget import QuestionBudget  # noqa: PLC0415
        from ..models.question_metadata import QuestionMetadata  # noqa: PLC0415
        from ..models.question_models import QuestionModels  # noqa: PLC0415
        from ..models.question_timings_type_0 import QuestionTimingsType0  # noqa: PLC0415
        from ..models.resource_error import ResourceError  # noqa: PLC0415
        from ..models.understood import Understood  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        status = d.pop("status")

        stage = d.pop("stage")

        def _parse_progress(data: object) -> None | Progress:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                progress_type_0 = Progress.from_dict(data)

                return progress_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Progress, data)

        progress = _parse_progress(d.pop("progress"))

        def _parse_priority(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        priority = _parse_priority(d.pop("priority"))

        def _parse_deadline_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                deadline_at_type_0 = datetime.datetime.fromisoformat(data)

                return deadline_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        deadline_at = _parse_deadline_at(d.pop("deadline_at"))

        def _parse_paused_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                paused_at_type_0 = datetime.datetime.fromisoformat(data)

                return paused_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        paused_at = _parse_paused_at(d.pop("paused_at"))

        question = d.pop("question")

        choices = cast(list[str], d.pop("choices"))

        video_ids = cast(list[str], d.pop("video_ids"))

        def _parse_start_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        start_ms = _parse_start_ms(d.pop("start_ms"))

        def _parse_end_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        end_ms = _parse_end_ms(d.pop("end_ms"))

        method = d.pop("method")

        effort = d.pop("effort")

        check = d.pop("check")

        route = d.pop("route")

        language = d.pop("language")

        budget = QuestionBudget.from_dict(d.pop("budget"))

        seed = d.pop("seed")

        external_id = d.pop("external_id")

        metadata = QuestionMetadata.from_dict(d.pop("metadata"))

        def _parse_batch_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        batch_id = _parse_batch_id(d.pop("batch_id"))

        def _parse_comparison_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        comparison_id = _parse_comparison_id(d.pop("comparison_id"))

        def _parse_session_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        session_id = _parse_session_id(d.pop("session_id"))

        def _parse_turn(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        turn = _parse_turn(d.pop("turn"))

        def _parse_standalone_question(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        standalone_question = _parse_standalone_question(d.pop("standalone_question"))

        def _parse_understood(data: object) -> None | Understood:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                understood_type_0 = Understood.from_dict(data)

                return understood_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Understood, data)

        understood = _parse_understood(d.pop("understood"))

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

        claims = []
        _claims = d.pop("claims")
        for claims_item_data in _claims:
            claims_item = Claim.from_dict(claims_item_data)

            claims.append(claims_item)

        def _parse_composition(data: object) -> Composition | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                composition_type_0 = Composition.from_dict(data)

                return composition_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Composition | None, data)

        composition = _parse_composition(d.pop("composition"))

        evidence = []
        _evidence = d.pop("evidence")
        for evidence_item_data in _evidence:
            evidence_item = Evidence.from_dict(evidence_item_data)

            evidence.append(evidence_item)

        notes = cast(list[str], d.pop("notes"))

        def _parse_partial_answer(data: object) -> None | PartialAnswer:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                partial_answer_type_0 = PartialAnswer.from_dict(data)

                return partial_answer_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PartialAnswer, data)

        partial_answer = _parse_partial_answer(d.pop("partial_answer"))

        def _parse_usage(data: object) -> ModelUsage | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                usage_type_0 = ModelUsage.from_dict(data)

                return usage_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ModelUsage | None, data)

        usage = _parse_usage(d.pop("usage"))

        charge = Charge.from_dict(d.pop("charge"))

        def _parse_timings(data: object) -> None | QuestionTimingsType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                timings_type_0 = QuestionTimingsType0.from_dict(data)

                return timings_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | QuestionTimingsType0, data)

        timings = _parse_timings(d.pop("timings"))

        models = QuestionModels.from_dict(d.pop("models"))

        method_version = d.pop("method_version")

        prompts = d.pop("prompts")

        degraded = cast(list[str], d.pop("degraded"))

        def _parse_error(data: object) -> None | ResourceError:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = ResourceError.from_dict(data)

                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ResourceError, data)

        error = _parse_error(d.pop("error"))

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

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_started_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                started_at_type_0 = datetime.datetime.fromisoformat(data)

                return started_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        started_at = _parse_started_at(d.pop("started_at"))

        def _parse_completed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                completed_at_type_0 = datetime.datetime.fromisoformat(data)

                return completed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        completed_at = _parse_completed_at(d.pop("completed_at"))

        _trace = d.pop("trace", UNSET)
        trace: list[Node] | Unset = UNSET
        if _trace is not UNSET:
            trace = []
            for trace_item_data in _trace:
                trace_item = Node.from_dict(trace_item_data)

                trace.append(trace_item)

        question = cls(
            id=id,
            object_=object_,
            status=status,
            stage=stage,
            progress=progress,
            priority=priority,
            deadline_at=deadline_at,
            paused_at=paused_at,
            question=question,
            choices=choices,
            video_ids=video_ids,
            start_ms=start_ms,
            end_ms=end_ms,
            method=method,
            effort=effort,
            check=check,
            route=route,
            language=language,
            budget=budget,
            seed=seed,
            external_id=external_id,
            metadata=metadata,
            batch_id=batch_id,
            comparison_id=comparison_id,
            session_id=session_id,
            turn=turn,
            standalone_question=standalone_question,
            understood=understood,
            answer=answer,
            choice=choice,
            finish_reason=finish_reason,
            finish_detail=finish_detail,
            confidence=confidence,
            claims=claims,
            composition=composition,
            evidence=evidence,
            notes=notes,
            partial_answer=partial_answer,
            usage=usage,
            charge=charge,
            timings=timings,
            models=models,
            method_version=method_version,
            prompts=prompts,
            degraded=degraded,
            error=error,
            feedback=feedback,
            created_at=created_at,
            started_at=started_at,
            completed_at=completed_at,
            trace=trace,
        )

        question.additional_properties = d
        return question

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
