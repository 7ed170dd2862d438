from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.candidate import Candidate
    from ..models.node_detail import NodeDetail
    from ..models.node_event import NodeEvent
    from ..models.node_usage import NodeUsage


T = TypeVar("T", bound="Node")


@_attrs_define
class Node:
    """A node of the search tree, or a step of a method that calls tools.

    Attributes:
        id (str): Id of the node.
        path (str): Actions from the root to the node, empty at the root. A step has its number, such as `S03`.
        depth (int): Number of actions on the path.
        action (str): Code of the action that made the node, or name of the tool of a step.
        answer (None | str): The node's own answer; `insufficient` if the node abstained, null if it did not answer.
        score (float | None): Score of the node's answer.
        sub_queries (list[str]): Queries that a re-query made (action RQ).
        events (list[NodeEvent]): Events that the node read, in the order of their ranks.
        candidates (list[Candidate]): Sampled answers of the node.
        seen (list[str]): Findings of an inspection so far (action IN).
        note (str): Why the tree was not searched, if the events alone decided the choice (action CS); else empty.
        detail (NodeDetail | None): The tool call of a step; null for any other node.
        reused_from (None | str): Path of the node with the same events whose answer this node shares.
        error_code (None | str): Code of the error that ended the node.
        usage (NodeUsage): What a node consumed.
        started_ms (int): Begin of the node, in milliseconds from the begin of the search.
        wall_ms (int): Duration of the node in milliseconds.
    """

    id: str
    path: str
    depth: int
    action: str
    answer: None | str
    score: float | None
    sub_queries: list[str]
    events: list[NodeEvent]
    candidates: list[Candidate]
    seen: list[str]
    note: str
    detail: NodeDetail | None
    reused_from: None | str
    error_code: None | str
    usage: NodeUsage
    started_ms: int
    wall_ms: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.node_detail import NodeDetail  # noqa: PLC0415

        id = self.id

        path = self.path

        depth = self.depth

        action = self.action

        answer: None | str
        answer = self.answer

        score: float | None
        score = self.score

        sub_queries = self.sub_queries

        events = []
        for events_item_data in self.events:
            events_item = events_item_data.to_dict()
            events.append(events_item)

        candidates = []
        for candidates_item_data in self.candidates:
            candidates_item = candidates_item_data.to_dict()
            candidates.append(candidates_item)

        seen = self.seen

        note = self.note

        detail: dict[str, Any] | None
        if isinstance(self.detail, NodeDetail):
            detail = self.detail.to_dict()
        else:
            detail = self.detail

        reused_from: None | str
        reused_from = self.reused_from

        error_code: None | str
        error_code = self.error_code

        usage = self.usage.to_dict()

        started_ms = self.started_ms

        wall_ms = self.wall_ms

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "path": path,
                "depth": depth,
                "action": action,
                "answer": answer,
                "score": score,
                "sub_queries": sub_queries,
                "events": events,
                "candidates": candidates,
                "seen": seen,
                "note": note,
                "detail": detail,
                "reused_from": reused_from,
                "error_code": error_code,
                "usage": usage,
                "started_ms": started_ms,
                "wall_ms": wall_ms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.candidate import Candidate  # noqa: PLC0415
        from ..models.node_detail import NodeDetail  # noqa: PLC0415
        from ..models.node_event import NodeEvent  # noqa: PLC0415
        from ..models.node_usage import NodeUsage  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        path = d.pop("path")

        depth = d.pop("depth")

        action = d.pop("action")

        def _parse_answer(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        answer = _parse_answer(d.pop("answer"))

        def _parse_score(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        score = _parse_score(d.pop("score"))

        sub_queries = cast(list[str], d.pop("sub_queries"))

        events = []
        _events = d.pop("events")
        for events_item_data in _events:
            events_item = NodeEvent.from_dict(events_item_data)

            events.append(events_item)

        candidates = []
        _candidates = d.pop("candidates")
        for candidates_item_data in _candidates:
            candidates_item = Candidate.from_dict(candidates_item_data)

            candidates.append(candidates_item)

        seen = cast(list[str], d.pop("seen"))

        note = d.pop("note")

        def _parse_detail(data: object) -> NodeDetail | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                detail_type_0 = NodeDetail.from_dict(data)

                return detail_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(NodeDetail | None, data)

        detail = _parse_detail(d.pop("detail"))

        def _parse_reused_from(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reused_from = _parse_reused_from(d.pop("reused_from"))

        def _parse_error_code(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error_code = _parse_error_code(d.pop("error_code"))

        usage = NodeUsage.from_dict(d.pop("usage"))

        started_ms = d.pop("started_ms")

        wall_ms = d.pop("wall_ms")

        node = cls(
            id=id,
            path=path,
            depth=depth,
            action=action,
            answer=answer,
            score=score,
            sub_queries=sub_queries,
            events=events,
            candidates=candidates,
            seen=seen,
            note=note,
            detail=detail,
            reused_from=reused_from,
            error_code=error_code,
            usage=usage,
            started_ms=started_ms,
            wall_ms=wall_ms,
        )

        node.additional_properties = d
        return node

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
