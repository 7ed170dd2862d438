from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.key_mode import KeyMode, check_key_mode
from ..models.scope import Scope, check_scope
from ..types import UNSET, Unset

T = TypeVar("T", bound="ApiKeyRequest")


@_attrs_define
class ApiKeyRequest:
    """
    Attributes:
        name (str): A name that shows what uses the key.
        scopes (list[Scope]): What the key may do; `*` is everything. A key cannot give a scope that it lacks.
        mode (KeyMode | Unset):
        expires_at (datetime.datetime | None | Unset): When the key ends; by default with the calling key, and never if
            that has no end.
        allowed_ips (list[str] | Unset): Addresses or networks (CIDR) from which the key may be used; by default those
            of the calling key.
        requests_per_minute (int | None | Unset): Limit of this key, within the tenant's; by default that of the calling
            key.
    """

    name: str
    scopes: list[Scope]
    mode: KeyMode | Unset = UNSET
    expires_at: datetime.datetime | None | Unset = UNSET
    allowed_ips: list[str] | Unset = UNSET
    requests_per_minute: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        scopes = []
        for scopes_item_data in self.scopes:
            scopes_item: str = scopes_item_data
            scopes.append(scopes_item)

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode

        expires_at: None | str | Unset
        if isinstance(self.expires_at, Unset):
            expires_at = UNSET
        elif isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        allowed_ips: list[str] | Unset = UNSET
        if not isinstance(self.allowed_ips, Unset):
            allowed_ips = self.allowed_ips

        requests_per_minute: int | None | Unset
        if isinstance(self.requests_per_minute, Unset):
            requests_per_minute = UNSET
        else:
            requests_per_minute = self.requests_per_minute

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "scopes": scopes,
            }
        )
        if mode is not UNSET:
            field_dict["mode"] = mode
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if allowed_ips is not UNSET:
            field_dict["allowed_ips"] = allowed_ips
        if requests_per_minute is not UNSET:
            field_dict["requests_per_minute"] = requests_per_minute

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        scopes = []
        _scopes = d.pop("scopes")
        for scopes_item_data in _scopes:
            scopes_item = check_scope(scopes_item_data)

            scopes.append(scopes_item)

        _mode = d.pop("mode", UNSET)
        mode: KeyMode | Unset
        if isinstance(_mode, Unset):
            mode = UNSET
        else:
            mode = check_key_mode(_mode)

        def _parse_expires_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        expires_at = _parse_expires_at(d.pop("expires_at", UNSET))

        allowed_ips = cast(list[str], d.pop("allowed_ips", UNSET))

        def _parse_requests_per_minute(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        requests_per_minute = _parse_requests_per_minute(d.pop("requests_per_minute", UNSET))

        api_key_request = cls(
            name=name,
            scopes=scopes,
            mode=mode,
            expires_at=expires_at,
            allowed_ips=allowed_ips,
            requests_per_minute=requests_per_minute,
        )

        api_key_request.additional_properties = d
        return api_key_request

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
