from typing import Literal

RolesEnum = Literal["admin", "billing", "owner"]

ROLES_ENUM_VALUES: set[RolesEnum] = {
    "admin",
    "billing",
    "owner",
}


def check_roles_enum(value: str) -> RolesEnum:
    if value in ROLES_ENUM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ROLES_ENUM_VALUES!r}")
