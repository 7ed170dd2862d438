from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="BatchUsage")


@_attrs_define
class BatchUsage:
    """What the answers of a batch consumed so far.

    Attributes:
        calls (int): Number of model calls.
        prompt_tokens (int): Tokens that were sent to models, cached ones included.
        cached_tokens (int): Tokens of the prompts that the server had cached, each answer's rounded down to thousands.
        completion_tokens (int): Tokens that models wrote.
    """

    calls: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        calls = self.calls

        prompt_tokens = self.prompt_tokens

        cached_tokens = self.cached_tokens

        completion_tokens = self.completion_tokens

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "calls": calls,
                "prompt_tokens": prompt_tokens,
                "cached_tokens": cached_tokens,
                "completion_tokens": completion_tokens,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        calls = d.pop("calls")

        prompt_tokens = d.pop("prompt_tokens")

        cached_tokens = d.pop("cached_tokens")

        completion_tokens = d.pop("completion_tokens")

        batch_usage = cls(
            calls=calls,
            prompt_tokens=prompt_tokens,
            cached_tokens=cached_tokens,
            completion_tokens=completion_tokens,
        )

        batch_usage.additional_properties = d
        return batch_usage

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
