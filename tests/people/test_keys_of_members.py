"""A key outlives neither the membership nor the role of the person who made it."""

from __future__ import annotations

from typing import Any

import pytest

from backend.people.services import members
from backend.tenancy.authentication import Principal
from backend.tenancy.models import ApiKey
from backend.tenancy.services import issue_api_key
from tests.conftest import Cast
from tests.people.cast import member_of


def made_by(cast: Cast, person_id: Any, **key: Any) -> Any:
    maker = Principal(cast.tenant_id, None, frozenset({"*"}), person_id=person_id)
    return issue_api_key(maker=maker, **key)[0].id


@pytest.mark.parametrize(
    ("role", "living"),
    [(None, set()), ("viewer", {"reader"}), ("developer", {"reader", "writer", "child"}), ("admin", None)],
)
def test_keys_of_a_member_end_with_the_member_or_the_role(
    acme: Cast, role: str | None, living: set[str] | None
) -> None:
    membership = member_of(acme, "admin")
    other = member_of(acme, "admin")
    with acme.scope():
        made_by(acme, membership.person_id, name="reader", scopes=["videos:read"])
        writer = made_by(acme, membership.person_id, name="writer", scopes=["videos:write", "keys:write"])
        parent = Principal(acme.tenant_id, writer, frozenset({"videos:write", "keys:write"}))
        issue_api_key(name="child", scopes=["videos:write"], maker=parent)
        made_by(acme, membership.person_id, name="auditor", scopes=["audit:read"])
        made_by(acme, other.person_id, name="other", scopes=["audit:read"])
        if role is None:
            members.remove(membership.id, by_owner=True)
        else:
            members.change(membership.id, role=role, collection_ids=None, limits_given=False, by_owner=True)

        left = set(ApiKey.objects.filter(revoked_at=None).values_list("name", flat=True))

    mine = {"reader", "writer", "child", "auditor"} if living is None else living
    assert left == mine | {"test", "other"}
