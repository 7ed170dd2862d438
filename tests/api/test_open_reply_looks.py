"""How often an open reply looks at its subject: comments need no look, a notice leads to one, and many replies share
the looks of a process."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.handlers.wsgi import WSGIHandler

from backend.api.server import serving
from backend.api.server.awaiting import KEEP_ALIVE
from backend.api.server.open_replies import OpenReply

PATIENCE_S = 60


class Quiet:
    """A subject with no news. It is over at the first look after `ends` is set."""

    seconds = 600.0

    def __init__(self) -> None:
        self.subject: UUID = uuid4()
        self.over = False
        self.looks = 0
        self.ends = False

    def look(self) -> bytes:
        self.looks += 1
        self.over = self.ends
        return b""


def test_comments_go_out_without_looks_and_a_notice_leads_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "HEARTBEAT_SECONDS", 0.01)
    monkeypatch.setattr(serving, "LOOK_SECONDS", 600.0)
    monkeypatch.setattr(serving, "IDLE_LOOK_SECONDS", 600.0)
    subject = Quiet()

    async def follow() -> list[bytes]:
        server = serving.Server(WSGIHandler())
        sent: list[bytes] = []
        async for chunk in server._follow(subject, OpenReply(uuid4()), (), keep_alive=KEEP_ALIVE):
            sent.append(chunk)
            if len(sent) == 3:
                assert subject.looks == 1
                subject.ends = True
                server._changes._notice_all()
        return sent

    async def bounded() -> list[bytes]:
        async with asyncio.timeout(PATIENCE_S):
            return await follow()

    assert set(asyncio.run(bounded())) == {KEEP_ALIVE}
    assert subject.looks == 2


def test_many_open_replies_share_the_looks_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    async def spread() -> tuple[float, list[float]]:
        server: Any = serving.Server(WSGIHandler())
        few = max(server._spread(5.0) for _ in range(100))
        server._followed = 1_000
        return few, [server._spread(5.0) for _ in range(100)]

    few, many = asyncio.run(spread())
    assert few <= 1.25 * 5.0
    assert min(many) >= 0.75 * 1_000 / serving.LOOKS_PER_SECOND
    assert len(set(many)) > 1, "replies that were opened together look apart"
