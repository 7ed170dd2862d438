from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.effort import Effort, check_effort
from ..models.question_method import QuestionMethod, check_question_method
from ..models.route_wish import RouteWish, check_route_wish
from ..types import UNSET, Unset

T = TypeVar("T", bound="QuestionEstimateRequest")


@_attrs_define
class QuestionEstimateRequest:
    """What decides the charge and the duration of a question. With a scope, the reply also says what a scan would
    take. The question may still be missing.

        Attributes:
            video_ids (list[str] | Unset): Videos to read. Give either these or a collection.
            collection_id (str | Unset): Collection to read, with the videos that it has now.
            start_ms (int | None | Unset): Begin of the span to read in each video, in milliseconds. By default the video's
                begin.
            end_ms (int | None | Unset): End of the span to read in each video, in milliseconds. By default the video's end.
            method (QuestionMethod | Unset):
            effort (Effort | Unset):
            question (str | Unset): The question in your own words.
            choices (list[str] | Unset): Answers to choose from, 2 to 26. Leave this out for an open question.
            route (RouteWish | Unset):
    """

    video_ids: list[str] | Unset = UNSET
    collection_id: str | Unset = UNSET
    start_ms: int | None | Unset = UNSET
    end_ms: int | None | Unset = UNSET
    method: QuestionMethod | Unset = UNSET
    effort: Effort | Unset = UNSET
    question: str | Unset = UNSET
    choices: list[str] | Unset = UNSET
    route: RouteWish | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
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

        method: str | Unset = UNSET
        if not isinstance(self.method, Unset):
            method = self.method

        effort: str | Unset = UNSET
        if not isinstance(self.effort, Unset):
            effort = self.effort

        question = self.question

        choices: list[str] | Unset = UNSET
        if not isinstance(self.choices, Unset):
            choices = self.choices

        route: str | Unset = UNSET
        if not isinstance(self.route, Unset):
            route = self.route

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if video_ids is not UNSET:
            field_dict["video_ids"] = video_ids
        if collection_id is not UNSET:
            field_dict["collection_id"] = collection_id
        if start_ms is not UNSET:
            field_dict["start_ms"] = start_ms
        if end_ms is not UNSET:
            field_dict["end_ms"] = end_ms
        if method is not UNSET:
            field_dict["method"] = method
        if effort is not UNSET:
            field_dict["effort"] = effort
        if question is not UNSET:
            field_dict["question"] = question
        if choices is not UNSET:
            field_dict["choices"] = choices
        if route is not UNSET:
            field_dict["route"] = route

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
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

        question = d.pop("question", UNSET)

        choices = cast(list[str], d.pop("choices", UNSET))

        _route = d.pop("route", UNSET)
        route: RouteWish | Unset
        if isinstance(_route, Unset):
            route = UNSET
        else:
            route = check_route_wish(_route)

        question_estimate_request = cls(
            video_ids=video_ids,
            collection_id=collection_id,
            start_ms=start_ms,
            end_ms=end_ms,
            method=method,
            effort=effort,
            question=question,
            choices=choices,
            route=route,
        )

        question_estimate_request.additional_properties = d
        return question_estimate_request

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
