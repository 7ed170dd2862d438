"""Baselines without an index, over a real file and a real HTTP server that answers from a script."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from bench.evaluation.deciding import NOTHING, SINGLE_CALL
from bench.evaluation.videos.bare_models import (
    AgenticArm,
    FramesArm,
    NotConfigured,
    bare_arm,
    even_frames,
)
from bench.evaluation.videos.engine import VideoIndexes
from bench.evaluation.videos.manifest import VideoQuestion
from gpu_workers.engine.answering.contract import Price
from gpu_workers.engine.models.roles import ChatCapabilities
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.vision import VlmChecker
from tests.engine.indexing.media import write_steady
from tests.scripted_openai import Fault, Reply, ScriptedOpenAIServer, ScriptedRequest

QUESTION = VideoQuestion("q1", "steady", "What is shown?", ("a cat", "a test picture"), 1)
OPEN = VideoQuestion("q2", "steady", "What is shown?")
PRICES: Mapping[str, Price] = {"scripted": Price(Decimal(2), Decimal(1), Decimal(10))}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    return {"steady": write_steady(tmp_path_factory.mktemp("video") / "steady.mp4", 6)}


def knowing(request: ScriptedRequest) -> Reply:
    said = {"reasoning": "It is a test picture.", "answer": "B" if "A. a cat" in request.text else "a test picture"}
    return Reply(said, prompt_tokens=1_000, cached_tokens=400, completion_tokens=10)


@pytest.fixture
def server() -> Iterator[ScriptedOpenAIServer]:
    with ScriptedOpenAIServer(knowing) as running:
        yield running


def checker(server: ScriptedOpenAIServer, *, window: int = 32_768, most: int = 12) -> VlmChecker:
    model = OpenAIChatModel(base_url=server.url, model="scripted", capabilities=ChatCapabilities(window, images=True))
    return VlmChecker(model, max_frames=most)


def test_frames_are_spread_over_the_whole_file(files: Mapping[str, Path]) -> None:
    frames = even_frames(files["steady"], 4)

    assert [frame.ms for frame in frames] == [0, 1_500, 3_000, 4_500]
    assert all(frame.jpeg.startswith(b"\xff\xd8") for frame in frames)


def test_direct_vlm_shows_as_many_frames_as_the_model_takes(
    server: ScriptedOpenAIServer, files: Mapping[str, Path]
) -> None:
    arm = FramesArm("direct_vlm", checker(server), files, PRICES)

    answer = arm.ask(QUESTION)

    assert len(server.requests[0].images) == 12
    assert "The last frame is at 5 s." in server.requests[0].text
    assert "Others have answered" not in server.requests[0].text
    assert (answer.choice, answer.finish_reason, answer.decided) == (1, "answered", SINGLE_CALL)
    assert (answer.calls, answer.prompt_tokens, answer.cached_tokens, answer.frames) == (1, 1_000, 400, 12)
    assert answer.cost == Decimal("0.0017"), "600 fresh, 400 cached and 10 written tokens"
    assert answer.citations == ()
    assert arm.ask(OPEN).text == "a test picture"


def test_a_short_window_takes_fewer_frames(server: ScriptedOpenAIServer, files: Mapping[str, Path]) -> None:
    FramesArm("direct_vlm", checker(server, window=1_200), files, {}).ask(QUESTION)

    assert len(server.requests[0].images) == 6


def test_a_model_that_fails_leaves_no_answer(files: Mapping[str, Path]) -> None:
    with ScriptedOpenAIServer(Fault(400, "invalid_request_error", "no pictures here")) as server:
        answer = FramesArm("direct_vlm", checker(server), files, {}).ask(QUESTION)

    assert (answer.text, answer.finish_reason, answer.decided, answer.failed_calls) == ("", "error", NOTHING, 1)
    assert answer.cost is None


def agentic(server: ScriptedOpenAIServer, files: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch) -> AgenticArm:
    monkeypatch.setenv("AGENTIC_VLM_URL", server.url)
    monkeypatch.setenv("AGENTIC_VLM_MODEL", "scripted")
    monkeypatch.setenv("AGENTIC_VLM_API_KEY", "secret")
    monkeypatch.setenv("AGENTIC_VLM_BODY", '{"video_agent": {"enabled": true}}')
    return AgenticArm.of_environment(files, PRICES)


def test_agentic_vlm_sends_the_file_with_the_vendors_switch(
    server: ScriptedOpenAIServer, files: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = agentic(server, files, monkeypatch).ask(QUESTION)

    (request,) = server.requests
    video = request.body["messages"][0]["content"][0]["video_url"]["url"]
    assert video == f"data:video/mp4;base64,{base64.b64encode(files['steady'].read_bytes()).decode()}"
    assert request.body["video_agent"] == {"enabled": True}
    assert request.headers["Authorization"] == "Bearer secret"
    assert (answer.choice, answer.decided, answer.cost) == (1, SINGLE_CALL, Decimal("0.0017"))


def test_agentic_vlm_names_a_file_that_is_served(
    server: ScriptedOpenAIServer, files: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTIC_VLM_VIDEOS", "https://videos.example/set/")
    server.script = "The answer is B."

    answer = agentic(server, files, monkeypatch).ask(QUESTION)

    part = server.requests[0].body["messages"][0]["content"][0]
    assert part["video_url"]["url"] == "https://videos.example/set/steady.mp4"
    assert answer.choice == 1


def test_agentic_vlm_without_an_answer_or_a_server(
    server: ScriptedOpenAIServer, files: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = agentic(server, files, monkeypatch)
    server.script = "I like videos."
    assert (arm.ask(QUESTION).finish_reason, arm.ask(QUESTION).detail) == ("insufficient_evidence", "unreadable")

    server.script = Fault(400, "invalid_request_error", "too long")
    failed = arm.ask(QUESTION)
    assert (failed.finish_reason, failed.detail, failed.failed_calls) == ("error", "BadRequestError", 1)


def test_what_a_baseline_lacks_is_named(
    server: ScriptedOpenAIServer, files: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    indexes = VideoIndexes.__new__(VideoIndexes)
    indexes.files = files
    with pytest.raises(NotConfigured, match="CHECKER_URL"):
        bare_arm("direct_vlm", None, indexes, {})
    with pytest.raises(NotConfigured, match="AGENTIC_VLM_URL"):
        bare_arm("agentic_vlm", None, indexes, {})
    agentic(server, files, monkeypatch)
    monkeypatch.setenv("AGENTIC_VLM_BODY", "[1]")
    with pytest.raises(NotConfigured, match="AGENTIC_VLM_BODY"):
        bare_arm("agentic_vlm", None, indexes, {})
    monkeypatch.setenv("AGENTIC_VLM_BODY", "")
    large = tmp_path / "large.mp4"
    with large.open("wb") as file:
        file.truncate(20_000_001)
    with pytest.raises(NotConfigured, match="AGENTIC_VLM_VIDEOS"):
        AgenticArm.of_environment({"large": large}, {})
