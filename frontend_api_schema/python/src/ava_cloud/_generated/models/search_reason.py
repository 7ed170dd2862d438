from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SearchReason")


@_attrs_define
class SearchReason:
    """Why an event was found.

    Attributes:
        view (str): The view that found the event: by similarity of its description, of an entity in it, of a frame, of
            a spoken line or of its topic; by words; by the name of an entity, the title of a topic or the look of a tracked
            object; or by its connections in the graph. Known values: `event`, `entity`, `frame`, `transcript`, `topic`,
            `words`, `name`, `title`, `object`, `graph`. Others may follow.
        similarity (float): Similarity to the query.
        text (str): The words that matched; empty if the event itself matched.
        item_id (None | str): Id of the event, entity, frame or object that matched; null for other things.
    """

    view: str
    similarity: float
    text: str
    item_id: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        view = self.view

        similarity = self.similarity

        text = self.text

        item_id: None | str
        item_id = self.item_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "view": view,
                "similarity": similarity,
                "text": text,
                "item_id": item_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        view = d.pop("view")

        similarity = d.pop("similarity")

        text = d.pop("text")

        def _parse_item_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        item_id = _parse_item_id(d.pop("item_id"))

        search_reason = cls(
            view=view,
            similarity=similarity,
            text=text,
            item_id=item_id,
        )

        search_reason.additional_properties = d
        return search_reason

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
