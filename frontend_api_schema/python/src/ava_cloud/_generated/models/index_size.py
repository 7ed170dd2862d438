from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.graph_size import GraphSize


T = TypeVar("T", bound="IndexSize")


@_attrs_define
class IndexSize:
    """How much the Event Knowledge Graph holds.

    Attributes:
        chunks (int):
        events (int):
        entities (int):
        mentions (int):
        relations (int):
        frames (int):
        graph (GraphSize):
    """

    chunks: int
    events: int
    entities: int
    mentions: int
    relations: int
    frames: int
    graph: GraphSize
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        chunks = self.chunks

        events = self.events

        entities = self.entities

        mentions = self.mentions

        relations = self.relations

        frames = self.frames

        graph = self.graph.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "chunks": chunks,
                "events": events,
                "entities": entities,
                "mentions": mentions,
                "relations": relations,
                "frames": frames,
                "graph": graph,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.graph_size import GraphSize  # noqa: PLC0415

        d = dict(src_dict)
        chunks = d.pop("chunks")

        events = d.pop("events")

        entities = d.pop("entities")

        mentions = d.pop("mentions")

        relations = d.pop("relations")

        frames = d.pop("frames")

        graph = GraphSize.from_dict(d.pop("graph"))

        index_size = cls(
            chunks=chunks,
            events=events,
            entities=entities,
            mentions=mentions,
            relations=relations,
            frames=frames,
            graph=graph,
        )

        index_size.additional_properties = d
        return index_size

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
