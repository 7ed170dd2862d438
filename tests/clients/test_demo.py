"""`make demo` from the upload to the saved answers, with a test key: workers and senders run here, models do not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gpu_workers.engine.models.scripted import SCENES
from infra.local.demo.progress import Stages
from infra.local.demo.run import Demo
from tests.api.servers import ServerProcess
from tests.clients.test_python_client import url
from tests.clients.working import key_for_tests, working
from tests.conftest import Cast
from tests.tasks.world import FORTY_SECONDS, recording
from tests.webhooks.sending import sending

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class RunningService:
    """The service of a test, as the demo sees one that runs already."""

    url: str
    key: str

    def api_key(self) -> str:
        return self.key


def test_the_demo_indexes_a_video_and_saves_its_answers(
    acme: Cast, server: ServerProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    video = tmp_path / "gate.mp4"
    video.write_bytes(recording(FORTY_SECONDS))
    service: Any = RunningService(url(server), key_for_tests(acme))

    def run() -> dict[str, Any]:
        with Stages() as stages:
            return dict(Demo(service, stages, tmp_path / "out").run(video))

    with working(), sending():
        first, again = run(), run()

    assert json.loads((tmp_path / "out" / "result.json").read_text()) == again
    assert (first["index"]["reused"], again["index"]["reused"]) == (False, True)
    assert first["webhook"]["verified"]
    assert again["webhook"]["type"] == "video.ready"
    assert [answer["answer"] for answer in first["questions"]] == [SCENES[0], "people"]
    frame = first["questions"][0]["evidence"][0]["frame"]
    assert (tmp_path / "out" / frame).read_bytes().startswith(b"\xff\xd8")
    assert "signature verified" in capsys.readouterr().out
