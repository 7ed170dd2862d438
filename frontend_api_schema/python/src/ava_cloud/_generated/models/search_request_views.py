from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SearchRequestViews")


@_attrs_define
class SearchRequestViews:
    """Weights from 0 to 10 of the views event, entity, frame, transcript, topic, words, name, title, object, graph; 0
    leaves a view out. By default in `semantic` event 1, entity 0.1, frame 1, transcript 0.5, topic 0.25, graph 0.1; in
    `words` words 1, name 0.5, title 0.25, object 0.25; in `hybrid` event 1, frame 1, transcript 0.5, words 0.3, name
    0.1, title 0.05, object 0.05. A search that names something by its letters, such as a plate, gives words more weight
    in `hybrid`. A search for `objects` has no views.

    """

    additional_properties: dict[str, float] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        search_request_views = cls()

        search_request_views.additional_properties = d
        return search_request_views

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> float:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: float) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
