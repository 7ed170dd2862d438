from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="NodeEvent")


@_attrs_define
class NodeEvent:
    """An event that a node read.

    Attributes:
        event_id (str): Id of the event.
        rank (int): Position in the node's event list, from 1.
        score (float): Score of the retrieval.
        views (list[str]): Retrieval views that found the event.
    """

    event_id: str
    rank: int
    score: float
    views: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event_id = self.event_id

        rank = self.rank

        score = self.score

        views = self.views

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event_id": event_id,
                "rank": rank,
                "score": score,
                "views": views,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        event_id = d.pop("event_id")

        rank = d.pop("rank")

        score = d.pop("score")

        views = cast(list[str], d.pop("views"))

        node_event = cls(
            event_id=event_id,
            rank=rank,
            score=score,
            views=views,
        )

        node_event.additional_properties = d
        return node_event

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
