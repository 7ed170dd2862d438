"""kill -9 of the worker while it answers the questions of a comparison: each pair ends once, billed once."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from infra.local import ffmpeg
from infra.local.default_video import default_video
from tests.e2e.service import Service, running_service
from tests.scripted_openai import Reply, ScriptedOpenAIServer, ScriptedRequest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2_400)]

SECONDS, END_S = 6, 1_800
ITEMS, ARMS = 60, ("ava", "caption_rag", "vector")
KILLED_AT = (20, 90)
"""Requests of the comparison during which the worker is killed, from 0."""


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cut the first seconds of a real recording."""
    file = tmp_path_factory.mktemp("clip") / "clip.avi"
    source = default_video().path
    command = [str(ffmpeg.ffmpeg()), "-v", "error", "-i", str(source), "-t", str(SECONDS), "-c", "copy"]
    subprocess.run([*command, str(file)], check=True)
    return file


class Killer:
    """A reasoner whose server kills the worker that waits for it, at some of its requests."""

    def __init__(self) -> None:
        self.service: Service | None = None
        self.left = list(KILLED_AT)
        self.requests = 0

    def __call__(self, request: ScriptedRequest) -> Reply:
        if self.service is not None:
            if self.left and self.requests >= self.left[0]:
                self.left.pop(0)
                self.service.kill("worker-query")
            self.requests += 1
        texts = [{"reasoning": "E1 shows it.", "answer": "A", "evidence": [1]}] * request.n
        return Reply(texts, prompt_tokens=100, completion_tokens=20)


def ledger(client: Any, meter: str) -> list[dict[str, Any]]:
    return [event for event in client.pages(f"/usage/events?meter={meter}") if event["question_id"]]


def test_each_pair_ends_and_is_billed_once_whatever_dies(clip: Path, tmp_path: Path) -> None:
    killer = Killer()
    with (
        ScriptedOpenAIServer(killer, model="scripted") as server,
        running_service(
            tmp_path / "root",
            REASONER_URL=server.url,
            REASONER_MODEL="scripted",
            AVA_LEASE_SECONDS="4",
            AVA_HEARTBEAT_SECONDS="1",
        ) as service,
    ):
        client = service.client()
        video = service.wait_until_indexed(service.upload(clip))
        assert video["status"] == "ready", video
        killer.service = service
        made = client.call(
            "POST",
            "/comparisons",
            {
                "questions": [
                    {"question": f"What is seen in part {n}?", "choices": ["a room", "the sea"], "correct_choice": 0}
                    for n in range(ITEMS)
                ],
                "arms": [{"method": name, "effort": "low"} for name in ARMS],
                "video_ids": [video["id"]],
            },
        )
        deadline = time.monotonic() + END_S
        comparison = made
        while comparison["status"] == "running" and time.monotonic() < deadline:
            time.sleep(0.5)
            comparison = client.call("GET", f"/comparisons/{made['id']}")

        assert killer.left == [], "the worker was not killed often enough: nothing was tested"
        assert comparison["status"] == "completed", comparison["counts"]
        pairs = ITEMS * len(ARMS)
        assert (comparison["counts"]["total"], comparison["counts"]["succeeded"]) == (pairs, pairs)
        asked = {row["id"]: row["usage"] for row in client.pages("/questions?status=succeeded")}
        assert len(asked) == pairs

        charges = Counter(event["question_id"] for event in ledger(client, "questions"))
        assert charges == dict.fromkeys(asked, 1)
        billed = [event for event in ledger(client, "input_tokens") if event["billable"]]
        rows = Counter((event["question_id"], event["stage"], event["model"]) for event in billed)
        assert set(rows.values()) == {1}, "no call of a pair is billed twice"
        for id, usage in asked.items():
            fresh = sum(int(event["quantity"]) for event in billed if event["question_id"] == id)
            assert fresh == usage["prompt_tokens"] - usage["cached_tokens"]
        restarts = (service.root / "supervisor.out").read_text().count("RESTART ")
        assert restarts == len(KILLED_AT)
