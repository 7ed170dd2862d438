from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.sign_in_settings_request_oidc_group_roles import SignInSettingsRequestOidcGroupRoles


T = TypeVar("T", bound="SignInSettingsRequest")


@_attrs_define
class SignInSettingsRequest:
    """
    Attributes:
        require_second_factor (bool | Unset): Whether members must sign in with a second factor, a passkey or your
            provider.
        oidc_issuer (str | Unset): The provider's issuer URL; empty for no provider.
        oidc_client_id (str | Unset):
        oidc_client_secret (str | Unset): Kept sealed and never shown; omit it to keep it.
        oidc_domains (list[str] | Unset): Domains of the addresses that the provider may name; empty for all. A domain
            admits nobody.
        oidc_groups_claim (str | Unset): Claim that lists groups.
        oidc_group_roles (SignInSettingsRequestOidcGroupRoles | Unset): Role by group. Members of a mapped group need no
            invitation; ownership cannot be mapped.
    """

    require_second_factor: bool | Unset = UNSET
    oidc_issuer: str | Unset = UNSET
    oidc_client_id: str | Unset = UNSET
    oidc_client_secret: str | Unset = UNSET
    oidc_domains: list[str] | Unset = UNSET
    oidc_groups_claim: str | Unset = UNSET
    oidc_group_roles: SignInSettingsRequestOidcGroupRoles | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        require_second_factor = self.require_second_factor

        oidc_issuer: str | Unset
        if isinstance(self.oidc_issuer, Unset):
            oidc_issuer = UNSET
        else:
            oidc_issuer = self.oidc_issuer

        oidc_client_id = self.oidc_client_id

        oidc_client_secret = self.oidc_client_secret

        oidc_domains: list[str] | Unset = UNSET
        if not isinstance(self.oidc_domains, Unset):
            oidc_domains = self.oidc_domains

        oidc_groups_claim = self.oidc_groups_claim

        oidc_group_roles: dict[str, Any] | Unset = UNSET
        if not isinstance(self.oidc_group_roles, Unset):
            oidc_group_roles = self.oidc_group_roles.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if require_second_factor is not UNSET:
            field_dict["require_second_factor"] = require_second_factor
        if oidc_issuer is not UNSET:
            field_dict["oidc_issuer"] = oidc_issuer
        if oidc_client_id is not UNSET:
            field_dict["oidc_client_id"] = oidc_client_id
        if oidc_client_secret is not UNSET:
            field_dict["oidc_client_secret"] = oidc_client_secret
        if oidc_domains is not UNSET:
            field_dict["oidc_domains"] = oidc_domains
        if oidc_groups_claim is not UNSET:
            field_dict["oidc_groups_claim"] = oidc_groups_claim
        if oidc_group_roles is not UNSET:
            field_dict["oidc_group_roles"] = oidc_group_roles

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.sign_in_settings_request_oidc_group_roles import SignInSettingsRequestOidcGroupRoles  # noqa: PLC0415

        d = dict(src_dict)
        require_second_factor = d.pop("require_second_factor", UNSET)

        def _parse_oidc_issuer(data: object) -> str | Unset:
            if isinstance(data, Unset):
                return data
            return cast(str | Unset, data)

        oidc_issuer = _parse_oidc_issuer(d.pop("oidc_issuer", UNSET))

        oidc_client_id = d.pop("oidc_client_id", UNSET)

        oidc_client_secret = d.pop("oidc_client_secret", UNSET)

        oidc_domains = cast(list[str], d.pop("oidc_domains", UNSET))

        oidc_groups_claim = d.pop("oidc_groups_claim", UNSET)

        _oidc_group_roles = d.pop("oidc_group_roles", UNSET)
        oidc_group_roles: SignInSettingsRequestOidcGroupRoles | Unset
        if isinstance(_oidc_group_roles, Unset):
            oidc_group_roles = UNSET
        else:
            oidc_group_roles = SignInSettingsRequestOidcGroupRoles.from_dict(_oidc_group_roles)

        sign_in_settings_request = cls(
            require_second_factor=require_second_factor,
            oidc_issuer=oidc_issuer,
            oidc_client_id=oidc_client_id,
            oidc_client_secret=oidc_client_secret,
            oidc_domains=oidc_domains,
            oidc_groups_claim=oidc_groups_claim,
            oidc_group_roles=oidc_group_roles,
        )

        sign_in_settings_request.additional_properties = d
        return sign_in_settings_request

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
