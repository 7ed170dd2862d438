from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="NodeUsage")


@_attrs_define
class NodeUsage:
    """What a node consumed.

    Attributes:
        prompt_tokens (int): Tokens that were sent to models.
        completion_tokens (int): Tokens that models wrote.
        frames_used (int): Frames that a check or an inspection looked at.
        frames_available (int): Frames that it could have looked at.
    """

    prompt_tokens: int
    completion_tokens: int
    frames_used: int
    frames_available: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        prompt_tokens = self.prompt_tokens

        completion_tokens = self.completion_tokens

        frames_used = self.frames_used

        frames_available = self.frames_available

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "prompt_tokens": prompt_tokens,
                "completion_tokens": completion_tokens,
                "frames_used": frames_used,
                "frames_available": frames_available,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        prompt_tokens = d.pop("prompt_tokens")

        completion_tokens = d.pop("completion_tokens")

        frames_used = d.pop("frames_used")

        frames_available = d.pop("frames_available")

        node_usage = cls(
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            frames_used=frames_used,
            frames_available=frames_available,
        )

        node_usage.additional_properties = d
        return node_usage

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
