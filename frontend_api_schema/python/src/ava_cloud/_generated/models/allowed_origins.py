from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AllowedOrigins")


@_attrs_define
class AllowedOrigins:
    """
    Attributes:
        object_ (str): Always `allowed_origins`. Default: 'allowed_origins'.
        origins (list[str]): Origins that may use your keys, sorted.
        embed_origins (list[str]): Origins that may show your shares in a frame, sorted.
    """

    origins: list[str]
    embed_origins: list[str]
    object_: str = "allowed_origins"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_ = self.object_

        origins = self.origins

        embed_origins = self.embed_origins

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "origins": origins,
                "embed_origins": embed_origins,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        object_ = d.pop("object")

        origins = cast(list[str], d.pop("origins"))

        embed_origins = cast(list[str], d.pop("embed_origins"))

        allowed_origins = cls(
            object_=object_,
            origins=origins,
            embed_origins=embed_origins,
        )

        allowed_origins.additional_properties = d
        return allowed_origins

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
