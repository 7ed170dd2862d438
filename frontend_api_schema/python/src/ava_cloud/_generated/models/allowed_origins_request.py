from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="AllowedOriginsRequest")


@_attrs_define
class AllowedOriginsRequest:
    """
    Attributes:
        origins (list[str]): Origins such as `https://app.example.com`: scheme and host, with a port if it is not the
            usual one.
        embed_origins (list[str] | Unset): Origins of web pages that may show your shares in a frame. Left out, they
            stay as they are.
    """

    origins: list[str]
    embed_origins: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        origins = self.origins

        embed_origins: list[str] | Unset = UNSET
        if not isinstance(self.embed_origins, Unset):
            embed_origins = self.embed_origins

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "origins": origins,
            }
        )
        if embed_origins is not UNSET:
            field_dict["embed_origins"] = embed_origins

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        origins = cast(list[str], d.pop("origins"))

        embed_origins = cast(list[str], d.pop("embed_origins", UNSET))

        allowed_origins_request = cls(
            origins=origins,
            embed_origins=embed_origins,
        )

        allowed_origins_request.additional_properties = d
        return allowed_origins_request

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
