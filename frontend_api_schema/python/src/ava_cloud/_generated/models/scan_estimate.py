from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ScanEstimate")


@_attrs_define
class ScanEstimate:
    """What a scan takes at most: the calls that judge the events of the scope. Verdicts that an earlier question paid
    for cost no call.

        Attributes:
            calls (int): Number of model calls.
            prompt_tokens (int): Tokens that will be sent to the model, about.
            completion_tokens (int): Tokens that the model will write, about.
            seconds (float): How long the calls will take if the model is idle, about.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        calls = self.calls

        prompt_tokens = self.prompt_tokens

        completion_tokens = self.completion_tokens

        seconds = self.seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "calls": calls,
                "prompt_tokens": prompt_tokens,
                "completion_tokens": completion_tokens,
                "seconds": seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        calls = d.pop("calls")

        prompt_tokens = d.pop("prompt_tokens")

        completion_tokens = d.pop("completion_tokens")

        seconds = d.pop("seconds")

        scan_estimate = cls(
            calls=calls,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            seconds=seconds,
        )

        scan_estimate.additional_properties = d
        return scan_estimate

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
