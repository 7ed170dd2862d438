from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.node_detail_arguments import NodeDetailArguments


T = TypeVar("T", bound="NodeDetail")


@_attrs_define
class NodeDetail:
    """A step of a method that calls tools; null for any other node.

    Attributes:
        tool (str): Tool that the model called; empty if its step could not be read.
        arguments (NodeDetailArguments): Arguments of the call, as they were checked.
        observation (str): What the tool returned, at most 4,000 characters.
        thought (str): What the model wrote before the call.
        forced (str): Why the model had to finish in this step; empty if it had a choice.
        error (str): Code of what went wrong with the call; empty if nothing did.
    """

    tool: str
    arguments: NodeDetailArguments
    observation: str
    thought: str
    forced: str
    error: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        tool = self.tool

        arguments = self.arguments.to_dict()

        observation = self.observation

        thought = self.thought

        forced = self.forced

        error = self.error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "tool": tool,
                "arguments": arguments,
                "observation": observation,
                "thought": thought,
                "forced": forced,
                "error": error,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.node_detail_arguments import NodeDetailArguments  # noqa: PLC0415

        d = dict(src_dict)
        tool = d.pop("tool")

        arguments = NodeDetailArguments.from_dict(d.pop("arguments"))

        observation = d.pop("observation")

        thought = d.pop("thought")

        forced = d.pop("forced")

        error = d.pop("error")

        node_detail = cls(
            tool=tool,
            arguments=arguments,
            observation=observation,
            thought=thought,
            forced=forced,
            error=error,
        )

        node_detail.additional_properties = d
        return node_detail

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
