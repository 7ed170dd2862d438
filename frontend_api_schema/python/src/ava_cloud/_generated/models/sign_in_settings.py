from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.sign_in_settings_oidc_group_roles import SignInSettingsOidcGroupRoles


T = TypeVar("T", bound="SignInSettings")


@_attrs_define
class SignInSettings:
    """
    Attributes:
        object_ (str):
        require_second_factor (bool):
        oidc_issuer (str):
        oidc_client_id (str):
        oidc_domains (list[str]):
        oidc_groups_claim (str):
        oidc_group_roles (SignInSettingsOidcGroupRoles):
        oidc_login_path (str): Where members sign in by the provider.
        oidc_callback_path (str): Redirect URI, without the host, to enter at the provider.
    """

    object_: str
    require_second_factor: bool
    oidc_issuer: str
    oidc_client_id: str
    oidc_domains: list[str]
    oidc_groups_claim: str
    oidc_group_roles: SignInSettingsOidcGroupRoles
    oidc_login_path: str
    oidc_callback_path: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        object_ = self.object_

        require_second_factor = self.require_second_factor

        oidc_issuer = self.oidc_issuer

        oidc_client_id = self.oidc_client_id

        oidc_domains = self.oidc_domains

        oidc_groups_claim = self.oidc_groups_claim

        oidc_group_roles = self.oidc_group_roles.to_dict()

        oidc_login_path = self.oidc_login_path

        oidc_callback_path = self.oidc_callback_path

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "require_second_factor": require_second_factor,
                "oidc_issuer": oidc_issuer,
                "oidc_client_id": oidc_client_id,
                "oidc_domains": oidc_domains,
                "oidc_groups_claim": oidc_groups_claim,
                "oidc_group_roles": oidc_group_roles,
                "oidc_login_path": oidc_login_path,
                "oidc_callback_path": oidc_callback_path,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.sign_in_settings_oidc_group_roles import SignInSettingsOidcGroupRoles  # noqa: PLC0415

        d = dict(src_dict)
        object_ = d.pop("object")

        require_second_factor = d.pop("require_second_factor")

        oidc_issuer = d.pop("oidc_issuer")

        oidc_client_id = d.pop("oidc_client_id")

        oidc_domains = cast(list[str], d.pop("oidc_domains"))

        oidc_groups_claim = d.pop("oidc_groups_claim")

        oidc_group_roles = SignInSettingsOidcGroupRoles.from_dict(d.pop("oidc_group_roles"))

        oidc_login_path = d.pop("oidc_login_path")

        oidc_callback_path = d.pop("oidc_callback_path")

        sign_in_settings = cls(
            object_=object_,
            require_second_factor=require_second_factor,
            oidc_issuer=oidc_issuer,
            oidc_client_id=oidc_client_id,
            oidc_domains=oidc_domains,
            oidc_groups_claim=oidc_groups_claim,
            oidc_group_roles=oidc_group_roles,
            oidc_login_path=oidc_login_path,
            oidc_callback_path=oidc_callback_path,
        )

        sign_in_settings.additional_properties = d
        return sign_in_settings

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
