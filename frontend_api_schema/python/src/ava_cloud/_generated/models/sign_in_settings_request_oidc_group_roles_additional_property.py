from typing import Literal

SignInSettingsRequestOidcGroupRolesAdditionalProperty = Literal["admin", "analyst", "billing", "developer", "viewer"]

SIGN_IN_SETTINGS_REQUEST_OIDC_GROUP_ROLES_ADDITIONAL_PROPERTY_VALUES: set[
    SignInSettingsRequestOidcGroupRolesAdditionalProperty
] = {
    "admin",
    "analyst",
    "billing",
    "developer",
    "viewer",
}


def check_sign_in_settings_request_oidc_group_roles_additional_property(
    value: str,
) -> SignInSettingsRequestOidcGroupRolesAdditionalProperty:
    if value in SIGN_IN_SETTINGS_REQUEST_OIDC_GROUP_ROLES_ADDITIONAL_PROPERTY_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SIGN_IN_SETTINGS_REQUEST_OIDC_GROUP_ROLES_ADDITIONAL_PROPERTY_VALUES!r}"
    )
