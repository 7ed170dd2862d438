from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="WebhookEndpointUpdateRequest")


@_attrs_define
class WebhookEndpointUpdateRequest:
    """
    Attributes:
        url (str | Unset): An https URL that receives the events.
        description (str | Unset):
        event_types (list[str] | Unset): Types of the events to send; an empty list stands for all types.
        enabled (bool | Unset): `false` stops deliveries; `true` starts them again.
    """

    url: str | Unset = UNSET
    description: str | Unset = UNSET
    event_types: list[str] | Unset = UNSET
    enabled: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        description = self.description

        event_types: list[str] | Unset = UNSET
        if not isinstance(self.event_types, Unset):
            event_types = self.event_types

        enabled = self.enabled

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if url is not UNSET:
            field_dict["url"] = url
        if description is not UNSET:
            field_dict["description"] = description
        if event_types is not UNSET:
            field_dict["event_types"] = event_types
        if enabled is not UNSET:
            field_dict["enabled"] = enabled

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        url = d.pop("url", UNSET)

        description = d.pop("description", UNSET)

        event_types = cast(list[str], d.pop("event_types", UNSET))

        enabled = d.pop("enabled", UNSET)

        webhook_endpoint_update_request = cls(
            url=url,
            description=description,
            event_types=event_types,
            enabled=enabled,
        )

        webhook_endpoint_update_request.additional_properties = d
        return webhook_endpoint_update_request

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
