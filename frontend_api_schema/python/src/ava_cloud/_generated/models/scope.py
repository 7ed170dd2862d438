from typing import Literal

Scope = Literal[
    "*",
    "audit:read",
    "billing:write",
    "budgets:write",
    "clips:write",
    "keys:read",
    "keys:write",
    "members:read",
    "members:write",
    "questions:read",
    "questions:write",
    "retention:write",
    "shares:write",
    "usage:read",
    "videos:read",
    "videos:write",
    "webhooks:write",
]

SCOPE_VALUES: set[Scope] = {
    "*",
    "audit:read",
    "billing:write",
    "budgets:write",
    "clips:write",
    "keys:read",
    "keys:write",
    "members:read",
    "members:write",
    "questions:read",
    "questions:write",
    "retention:write",
    "shares:write",
    "usage:read",
    "videos:read",
    "videos:write",
    "webhooks:write",
}


def check_scope(value: str) -> Scope:
    if value in SCOPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SCOPE_VALUES!r}")
