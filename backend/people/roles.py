"""What each role may do: the scopes of its members, and the roles that it may hand out."""

from __future__ import annotations

from collections.abc import Mapping

from backend.people.models import Role
from backend.tenancy.keys import ALL_SCOPES, SCOPES

READ = frozenset({"videos:read", "questions:read"})
ASK = READ | {"questions:write"}

SCOPES_OF: Mapping[str, frozenset[str]] = {
    Role.OWNER: frozenset({ALL_SCOPES}),
    # Everything but ownership, which members:write alone does not give: see may_assign().
    Role.ADMIN: frozenset(SCOPES),
    Role.DEVELOPER: ASK
    | {"clips:write", "shares:write", "videos:write", "webhooks:write", "keys:write", "usage:read", "members:read"},
    Role.ANALYST: ASK | {"clips:write", "shares:write"},
    Role.VIEWER: READ,
    Role.BILLING: frozenset({"usage:read", "budgets:write", "billing:write"}),
}
MEANING: Mapping[str, str] = {
    Role.OWNER: "may do everything, and decides who else owns",
    Role.ADMIN: "may do everything except decide who owns",
    Role.DEVELOPER: "uploads videos, asks questions, makes keys, sets up webhooks and reads the usage",
    Role.ANALYST: "reads videos, asks questions, makes clips and shares answers",
    Role.VIEWER: "reads videos, questions and answers",
    Role.BILLING: "reads the usage, sets budgets and looks after billing",
}
"""What a member of each role does, as the end of a sentence."""
LIMITABLE = frozenset({Role.ANALYST, Role.VIEWER})
"""Roles whose members may be limited to collections. Another role could lift its own limit, for example by a key."""


def may_assign(*, by_owner: bool, role: str) -> bool:
    """Whether a caller may give, change or take a role: only owners decide who owns."""
    return by_owner or role != Role.OWNER
