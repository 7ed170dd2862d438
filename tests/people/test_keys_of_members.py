"""A key outlives neither the membership nor the role of the person who made it."""

from __future__ import annotations

from typing import Any

import pytest

from backend.api.public_ids import encode
from backend.library.models import Collection
from backend.people.services import members
from backend.tenancy.authentication import Principal
from backend.tenancy.models import ApiKey
from backend.tenancy.services import issue_api_key
from tests.conftest import Cast
from tests.people.cast import member_of
from tests.tenancy.test_api_keys import with_key


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


@pytest.mark.parametrize("role", [None, "viewer"])
def test_keys_of_a_member_end_when_the_member_is_limited_to_collections(acme: Cast, role: str | None) -> None:
    """A key sees every video of its tenant, so nobody who may see some of them keeps one."""
    membership = member_of(acme, "viewer" if role is None else "developer")
    maker = Principal(acme.tenant_id, None, frozenset({"*"}), person_id=membership.person_id)
    with acme.scope():
        park = Collection.objects.create(tenant_id=acme.tenant_id, name="Park")
        _, key = issue_api_key(maker=maker, name="reader", scopes=["videos:read", "questions:read"])
    assert with_key(key).get("/v1/videos").status_code == 200

    body = {"collection_ids": [encode("col", park.id)]} | ({} if role is None else {"role": role})
    changed = acme.client.patch(f"/v1/members/{encode('mem', membership.id)}", body)

    assert changed.status_code == 200, changed.content
    assert with_key(key).get("/v1/videos").status_code == 401
    assert acme.client.get("/v1/videos").status_code == 200
