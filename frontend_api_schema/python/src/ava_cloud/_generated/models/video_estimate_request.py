from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.profile import Profile, check_profile
from ..types import UNSET, Unset

T = TypeVar("T", bound="VideoEstimateRequest")


@_attrs_define
class VideoEstimateRequest:
    """What decides the charge and the duration of indexing. Give the duration, or else the size.

    Attributes:
        duration_ms (int | Unset): Duration of the recording.
        size_bytes (int | Unset): Size of the file, if you do not know its duration.
        profile (Profile | Unset):
        live (bool | Unset): Whether the recording arrives in segments, which are charged as live seconds. By default
            `false`.
    """

    duration_ms: int | Unset = UNSET
    size_bytes: int | Unset = UNSET
    profile: Profile | Unset = UNSET
    live: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        duration_ms = self.duration_ms

        size_bytes = self.size_bytes

        profile: str | Unset = UNSET
        if not isinstance(self.profile, Unset):
            profile = self.profile

        live = self.live

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if duration_ms is not UNSET:
            field_dict["duration_ms"] = duration_ms
        if size_bytes is not UNSET:
            field_dict["size_bytes"] = size_bytes
        if profile is not UNSET:
            field_dict["profile"] = profile
        if live is not UNSET:
            field_dict["live"] = live

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        duration_ms = d.pop("duration_ms", UNSET)

        size_bytes = d.pop("size_bytes", UNSET)

        _profile = d.pop("profile", UNSET)
        profile: Profile | Unset
        if isinstance(_profile, Unset):
            profile = UNSET
        else:
            profile = check_profile(_profile)

        live = d.pop("live", UNSET)

        video_estimate_request = cls(
            duration_ms=duration_ms,
            size_bytes=size_bytes,
            profile=profile,
            live=live,
        )

        video_estimate_request.additional_properties = d
        return video_estimate_request

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
