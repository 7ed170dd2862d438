"""kill -9 of any process while a video is indexed: the run ends with the same graph, and nothing is billed twice."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from infra.local import ffmpeg
from infra.local.default_video import default_video
from infra.local.demo.client import Client
from tests.e2e.service import Service, running_service

pytestmark = pytest.mark.slow

# Twice as many segments as kills.
SECONDS, SEGMENT_MS = 30, 3_000
KILLED = ("worker-index", "relay", "worker-probe", "worker-index")


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cut the beginning of a real recording: several segments, little time."""
    file = tmp_path_factory.mktemp("clip") / "clip.avi"
    source = default_video().path
    subprocess.run(
        [str(ffmpeg.ffmpeg()), "-v", "error", "-i", str(source), "-t", str(SECONDS), "-c", "copy", str(file)],
        check=True,
    )
    return file


def graph_of(client: Client, video_id: str) -> dict[str, Any]:
    """Return everything that a customer can see of an index, without the ids that differ between two videos."""
    path = f"/videos/{video_id}"
    events = [(e["start_ms"], e["end_ms"], e["summary"]) for e in client.pages(f"{path}/events")]
    entities = sorted(
        (
            e["name"],
            e["type"],
            e["description"],
            e["mentions"],
            sorted((a["start_ms"], a["role"]) for a in e["appearances"]),
        )
        for e in client.pages(f"{path}/entities")
    )
    relations = sorted(
        (r["source"]["name"], r["predicate"], r["target"]["name"], r["start_ms"])
        for r in client.pages(f"{path}/relations")
    )
    chunks = [(c["start_ms"], c["end_ms"], c["description"], c["gap"]) for c in client.pages(f"{path}/chunks")]
    summary = client.call("GET", f"{path}/summary")
    told = [summary["text"], summary["complete"], summary["error"]] + [
        (t["start_ms"], t["end_ms"], t["title"], t["summary"], [frame["ms"] for frame in t["frames"]])
        for t in summary["topics"]
    ]
    return {"events": events, "entities": entities, "relations": relations, "chunks": chunks, "summary": told}


def media_seconds(client: Client, video_id: str) -> list[str]:
    return sorted(
        event["quantity"]
        for event in client.pages("/usage/events?meter=media_seconds")
        if event["video_id"] == video_id
    )


def test_kill_9_of_any_worker_ends_with_the_same_graph_and_the_same_bill(clip: Path, tmp_path: Path) -> None:
    with running_service(
        tmp_path / "root",
        REASONER_URL="http://127.0.0.1:9/v1",
        REASONER_MODEL="none",
        AVA_SEGMENT_MS=str(SEGMENT_MS),
        AVA_SUMMARY_EVERY_SEGMENTS="2",
        AVA_LEASE_SECONDS="4",
        AVA_HEARTBEAT_SECONDS="1",
    ) as service:
        client = service.client()
        calm = service.upload(clip, external_id="undisturbed")
        undisturbed = service.wait_until_indexed(calm)
        assert undisturbed["status"] == "ready", undisturbed

        disturbed_id = service.upload(clip, external_id="disturbed")
        left = list(KILLED)
        disturbed = service.wait_until_indexed(disturbed_id, meanwhile=lambda video: kill_next(service, video, left))

        assert left == [], "the index was ready before every process was killed: nothing was tested"
        assert disturbed["status"] == "ready", disturbed
        assert disturbed["ekg"] == undisturbed["ekg"]
        assert graph_of(client, disturbed_id) == graph_of(client, calm)
        assert media_seconds(client, disturbed_id) == media_seconds(client, calm)
        restarts = (service.root / "supervisor.out").read_text().count("RESTART ")
        assert restarts == len(KILLED), "every death is told and every process replaced"


def kill_next(service: Service, video: dict[str, Any], left: list[str]) -> None:
    """While the video is being indexed, kill the next process once the previous one was replaced."""
    replaced = (service.root / "supervisor.out").read_text().count("RESTART ")
    if left and video["status"] == "indexing" and replaced == len(KILLED) - len(left):
        service.kill(left.pop(0))
