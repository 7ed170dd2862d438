from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.profile import Profile, check_profile
from ..types import UNSET, Unset

T = TypeVar("T", bound="CollectionRequest")


@_attrs_define
class CollectionRequest:
    """
    Attributes:
        name (str):
        profile (Profile | Unset):
        instructions (str | Unset): What to look for, in your own words.
        keeps_renditions (bool | Unset): Whether recordings are made ready for playback when they arrive. If not, that
            begins when somebody first wants to watch, and takes some time.
    """

    name: str
    profile: Profile | Unset = UNSET
    instructions: str | Unset = UNSET
    keeps_renditions: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        profile: str | Unset = UNSET
        if not isinstance(self.profile, Unset):
            profile = self.profile

        instructions = self.instructions

        keeps_renditions = self.keeps_renditions

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
            }
        )
        if profile is not UNSET:
            field_dict["profile"] = profile
        if instructions is not UNSET:
            field_dict["instructions"] = instructions
        if keeps_renditions is not UNSET:
            field_dict["keeps_renditions"] = keeps_renditions

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        _profile = d.pop("profile", UNSET)
        profile: Profile | Unset
        if isinstance(_profile, Unset):
            profile = UNSET
        else:
            profile = check_profile(_profile)

        instructions = d.pop("instructions", UNSET)

        keeps_renditions = d.pop("keeps_renditions", UNSET)

        collection_request = cls(
            name=name,
            profile=profile,
            instructions=instructions,
            keeps_renditions=keeps_renditions,
        )

        collection_request.additional_properties = d
        return collection_request

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
