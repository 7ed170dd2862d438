"""What one tenant does rings in its own streams alone, for every topic that streams offer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.db import connections

from backend.api import tenant_stream
from backend.api.changes import Changes
from backend.tenancy.authentication import Principal
from tests.conftest import Cast
from tests.isolation.test_routes import belongings

PATIENCE_S = 60


@pytest.mark.parametrize("limited", [False, True])
def test_a_change_rings_in_its_own_tenant_alone(acme: Cast, globex: Cast, limited: bool) -> None:
    topics = list(tenant_stream._topics.values())

    def rings_of(cast: Cast, collections: Any = None) -> tenant_stream.TenantChanges:
        caller = Principal(cast.tenant_id, cast.key_id, frozenset({"*"}), collections=collections)
        return tenant_stream.TenantChanges(caller, topics)

    mine = rings_of(acme, () if limited else None)
    theirs = rings_of(globex)

    def make_everything() -> None:
        try:
            belongings(globex)
        finally:
            connections.close_all()

    async def hear() -> None:
        changes = Changes()
        listening = asyncio.create_task(changes.listen())
        async with asyncio.timeout(PATIENCE_S):
            with changes.of(acme.tenant_id, mine.hear) as rung, changes.of(globex.tenant_id, theirs.hear) as ready:
                await ready.wait()
                await asyncio.to_thread(lambda: (mine.look(), theirs.look()))
                rung.clear()
                await asyncio.to_thread(make_everything)
                while {change.kind for change in theirs._heard if change} != {topic.kind for topic in topics}:
                    await asyncio.sleep(0.01)
                assert not rung.is_set()
        listening.cancel()

    asyncio.run(hear())
    assert list(mine._heard) == []
    assert mine.look() == b""
    sent = theirs.look()
    for topic in topics:
        assert f'"kind":"{topic.kind}","id":"{topic.prefix}_'.encode() in sent
