from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.check_mode import CheckMode, check_check_mode
from ..models.effort import Effort, check_effort
from ..models.priority_enum import PriorityEnum, check_priority_enum
from ..models.question_method import QuestionMethod, check_question_method
from ..models.route_wish import RouteWish, check_route_wish
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.question_budget_request import QuestionBudgetRequest
    from ..models.question_request_metadata import QuestionRequestMetadata


T = TypeVar("T", bound="QuestionRequest")


@_attrs_define
class QuestionRequest:
    """A question about videos or a collection, or the next question of a session.

    Attributes:
        question (str): The question in your own words.
        video_ids (list[str] | Unset): Videos to read. Give either these or a collection.
        collection_id (str | Unset): Collection to read, with the videos that it has now.
        start_ms (int | None | Unset): Begin of the span to read in each video, in milliseconds. By default the video's
            begin.
        end_ms (int | None | Unset): End of the span to read in each video, in milliseconds. By default the video's end.
        choices (list[str] | Unset): Answers to choose from, 2 to 26. Leave this out for an open question.
        method (QuestionMethod | Unset):
        effort (Effort | Unset):
        check (CheckMode | Unset):
        route (RouteWish | Unset):
        language (str | Unset): Language of the answer by its ISO 639-1 code, such as `de`. By default the question's
            own.
        budget (QuestionBudgetRequest | Unset): Limits of one question. A limit that is left out does not apply.
        seed (int | Unset): Seed of the sampling, for answers that can be repeated. By default `0`.
        external_id (str | Unset): Your own id of the question.
        metadata (QuestionRequestMetadata | Unset): Your own labels of the question.
        priority (PriorityEnum | Unset):
        deadline_at (datetime.datetime | Unset): When it fails if it has no answer by then: after an hour.
        session_id (None | str | Unset): Session that the question continues. Without videos or a collection it has the
            session's scope.
    """

    question: str
    video_ids: list[str] | Unset = UNSET
    collection_id: str | Unset = UNSET
    start_ms: int | None | Unset = UNSET
    end_ms: int | None | Unset = UNSET
    choices: list[str] | Unset = UNSET
    method: QuestionMethod | Unset = UNSET
    effort: Effort | Unset = UNSET
    check: CheckMode | Unset = UNSET
    route: RouteWish | Unset = UNSET
    language: str | Unset = UNSET
    budget: QuestionBudgetRequest | Unset = UNSET
    seed: int | Unset = UNSET
    external_id: str | Unset = UNSET
    metadata: QuestionRequestMetadata | Unset = UNSET
    priority: PriorityEnum | Unset = UNSET
    deadline_at: datetime.datetime | Unset = UNSET
    session_id: None | str | Unset = UNSET
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

        method: str | Unset = UNSET
        if not isinstance(self.method, Unset):
            method = self.method

        effort: str | Unset = UNSET
        if not isinstance(self.effort, Unset):
            effort = self.effort

        check: str | Unset = UNSET
        if not isinstance(self.check, Unset):
            check = self.check

        route: str | Unset = UNSET
        if not isinstance(self.route, Unset):
            route = self.route

        language = self.language

        budget: dict[str, Any] | Unset = UNSET
        if not isinstance(self.budget, Unset):
            budget = self.budget.to_dict()

        seed = self.seed

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

        session_id: None | str | Unset
        if isinstance(self.session_id, Unset):
            session_id = UNSET
        else:
            session_id = self.session_id

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
        if method is not UNSET:
            field_dict["method"] = method
        if effort is not UNSET:
            field_dict["effort"] = effort
        if check is not UNSET:
            field_dict["check"] = check
        if route is not UNSET:
            field_dict["route"] = route
        if language is not UNSET:
            field_dict["language"] = language
        if budget is not UNSET:
            field_dict["budget"] = budget
        if seed is not UNSET:
            field_dict["seed"] = seed
        if external_id is not UNSET:
            field_dict["external_id"] = external_id
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if priority is not UNSET:
            field_dict["priority"] = priority
        if deadline_at is not UNSET:
            field_dict["deadline_at"] = deadline_at
        if session_id is not UNSET:
            field_dict["session_id"] = session_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.question_budget_request import QuestionBudgetRequest  # noqa: PLC0415
        from ..models.question_request_metadata import QuestionRequestMetadata  # noqa: PLC0415

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

        _check = d.pop("check", UNSET)
        check: CheckMode | Unset
        if isinstance(_check, Unset):
            check = UNSET
        else:
            check = check_check_mode(_check)

        _route = d.pop("route", UNSET)
        route: RouteWish | Unset
        if isinstance(_route, Unset):
            route = UNSET
        else:
            route = check_route_wish(_route)

        language = d.pop("language", UNSET)

        _budget = d.pop("budget", UNSET)
        budget: QuestionBudgetRequest | Unset
        if isinstance(_budget, Unset):
            budget = UNSET
        else:
            budget = QuestionBudgetRequest.from_dict(_budget)

        seed = d.pop("seed", UNSET)

        external_id = d.pop("external_id", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: QuestionRequestMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = QuestionRequestMetadata.from_dict(_metadata)

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

        def _parse_session_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        session_id = _parse_session_id(d.pop("session_id", UNSET))

        question_request = cls(
            question=question,
            video_ids=video_ids,
            collection_id=collection_id,
            start_ms=start_ms,
            end_ms=end_ms,
            choices=choices,
            method=method,
            effort=effort,
            check=check,
            route=route,
            language=language,
            budget=budget,
            seed=seed,
            external_id=external_id,
            metadata=metadata,
            priority=priority,
            deadline_at=deadline_at,
            session_id=session_id,
        )

        question_request.additional_properties = d
        return question_request

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
