"""Whatever a tool meets, an agent reads a sentence that says what to do: every tool, with every kind of refusal."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from ava_cloud import AsyncAva, Retries
from ava_cloud.mcp_server.server import make_server
from mcp import Client

VIDEO, QUESTION = "vid_1111111111111111111111", "qst_1111111111111111111111"
TOOLS: dict[str, dict[str, Any]] = {
    "list_videos": {},
    "get_video": {"video_id": VIDEO},
    "add_video": {"source": "https://example.org/a.mp4"},
    "make_clip": {"video_id": VIDEO, "start_s": 1, "end_s": 2},
    "search_moments": {"query": "a red car", "video_ids": [VIDEO]},
    "ask": {"question": "Which car?", "video_ids": [VIDEO]},
    "get_answer": {"question_id": QUESTION},
    "list_events": {"video_id": VIDEO},
    "get_transcript": {"video_id": VIDEO},
    "find_entity": {"video_id": VIDEO, "name": "man"},
    "get_frame": {"video_id": VIDEO, "at_s": [1]},
}
REFUSALS = {
    (400, "invalid_request"): "Change the arguments.",
    (401, "invalid_api_key"): "Say so to the user.",
    (402, "budget_exceeded"): "Say so to the user.",
    (403, "insufficient_scope"): "Say so to the user.",
    (404, "not_found"): "list_videos() names the videos.",
    (409, "nothing_indexed"): "try again later.",
    (409, "not_probed"): "try again later.",
    (422, "idempotency_key_reused"): "Change the arguments.",
    (429, "rate_limited"): "Try again in 7 seconds.",
    (500, "internal_error"): "Try again in a minute.",
    (503, "storage_unavailable"): "Try again in a minute.",
    (0, ""): "Try again, or say so to the user.",
}
"""What an agent reads at the end, by status and code; 0 for a service that cannot be reached."""


class RefusingNetwork(httpx.AsyncBaseTransport):
    """A network behind which every request is refused."""

    def __init__(self, status: int, code: str) -> None:
        self._status, self._code = status, code

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if not self._status:
            raise httpx.ConnectError("no route", request=request)
        problem = {"status": self._status, "code": self._code, "detail": "It was refused.", "request_id": "req_1"}
        return httpx.Response(self._status, json=problem, headers={"retry-after": "7"}, request=request)


@pytest.mark.parametrize(("status", "code"), REFUSALS)
def test_every_tool_says_what_to_do(status: int, code: str) -> None:
    def client() -> AsyncAva:
        network = RefusingNetwork(status, code)
        return AsyncAva("vk_live_x", base_url="http://ava.test", transport=network, retries=Retries(attempts=1))

    async def called() -> dict[str, tuple[bool, str]]:
        server = make_server(client, allow_writes=True, most_each=Decimal(1), most_in_all=Decimal(5))
        async with Client(server) as agent:
            results = {name: await agent.call_tool(name, arguments) for name, arguments in TOOLS.items()}
        return {name: (bool(one.is_error), one.content[0].text) for name, one in results.items()}

    said = asyncio.run(called())

    assert set(said) == set(TOOLS)
    for name, (failed, text) in said.items():
        assert failed, name
        assert text.endswith(REFUSALS[status, code]), (name, text)
        assert "Traceback" not in text


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    async def called() -> tuple[bool, str]:
        client = lambda: AsyncAva("vk_live_x", base_url="http://ava.test")  # noqa: E731
        server = make_server(client, allow_writes=True, most_each=Decimal(1), most_in_all=Decimal(5))
        async with Client(server) as agent:
            result = await agent.call_tool("add_video", {"source": str(tmp_path / "gone.mp4")})
        return bool(result.is_error), result.content[0].text

    failed, text = asyncio.run(called())

    assert failed
    assert "gone.mp4" in text
    assert text.endswith("Try again, or say so to the user.")
