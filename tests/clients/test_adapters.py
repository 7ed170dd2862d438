"""docs/examples/llama_index and docs/examples/vercel_ai: installed into empty folders, and run with a test key.

Needs the package indexes of Python and of npm.
"""

from __future__ import annotations

import json
import shutil
import venv
from pathlib import Path

import pytest
from ava_cloud import Ava

from gpu_workers.engine.models.scripted import SCENES
from infra.clients import python_client
from tests.api.servers import PROJECT, ServerProcess
from tests.clients.test_packages import run
from tests.clients.test_python_client import url
from tests.clients.working import key_for_tests, working
from tests.conftest import Cast
from tests.tasks.world import FORTY_SECONDS, recording

pytestmark = pytest.mark.long

EXAMPLES = PROJECT / "docs" / "examples"
LLAMA_INDEX = "llama-index-core==0.14.25"
NPM = ("ai@7.0.173", "zod@4.6.7", "typescript@5.9.3", "@types/node@20.19.25")


@pytest.fixture
def settings(acme: Cast, server: ServerProcess) -> dict[str, str]:
    return {"AVA_API_KEY": key_for_tests(acme), "AVA_BASE_URL": url(server), "PYTHONPATH": ""}


@pytest.fixture
def video(settings: dict[str, str], tmp_path: Path) -> str:
    """A recording that a worker has indexed by script."""
    file = tmp_path / "gate.mp4"
    file.write_bytes(recording(FORTY_SECONDS))
    with Ava(settings["AVA_API_KEY"], base_url=settings["AVA_BASE_URL"]) as ava, working():
        return ava.videos.wait_ready(ava.videos.upload(file).id, timeout_s=120).id


RETRIEVE = """
import asyncio, json, sys
from video_retriever import VideoRetriever
retriever = VideoRetriever([sys.argv[1]])
for nodes in (retriever.retrieve("a white van"), asyncio.run(retriever.aretrieve("a white van"))):
    print(json.dumps([{"text": one.text, "score": one.score, **one.metadata} for one in nodes]))
"""


def test_the_retriever_of_llama_index_finds_moments(video: str, settings: dict[str, str], tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    shutil.copytree(python_client.PACKAGE.parents[1], tmp_path / "source", ignore=ignored)
    shutil.copy(EXAMPLES / "llama_index" / "video_retriever.py", tmp_path)
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", tmp_path / "source", LLAMA_INDEX, folder=tmp_path)

    with working():
        output = run(python, "-c", RETRIEVE, video, folder=tmp_path, **settings | {"PYTHONPATH": str(tmp_path)})

    first, second = map(json.loads, output.splitlines())
    assert first == second
    assert {"text": SCENES[1], "video_id": video, "start_ms": 30_000, "end_ms": 40_000}.items() <= first[0].items()
    assert first[0]["score"] > 0


AGENT = """
import {generateText, isStepCount} from "ai";
import {MockLanguageModelV4} from "ai/test";
import {Ava} from "@ava-cloud/client";
import {videoTools} from "./videoTools.js";

const usage = {
  inputTokens: {total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0},
  outputTokens: {total: 1, text: 1, reasoning: 0},
};
const reply = (unified: "tool-calls" | "stop", content: object) =>
  ({content: [content], finishReason: {unified, raw: undefined}, usage, warnings: []}) as never;
const call = (toolCallId: string, toolName: string, input: object) =>
  reply("tool-calls", {type: "tool-call", toolCallId, toolName, input: JSON.stringify(input)});
const video_ids = [process.argv[2]];
const model = new MockLanguageModelV4({
  doGenerate: [
    call("call-1", "askVideos", {question: "Who opens the gate?", video_ids}),
    call("call-2", "findMoments", {query: "a white van", video_ids}),
    reply("stop", {type: "text", text: "A person."}),
  ],
});
const done = await generateText({
  model, tools: videoTools(new Ava()), stopWhen: isStepCount(5), prompt: "Who opens the gate?",
});
console.log(JSON.stringify(done.steps.flatMap((step) => step.toolResults.map((result) => result.output))));
"""
COMPILER = {"strict": True, "module": "nodenext", "target": "es2022", "types": ["node"], "skipLibCheck": True}


def test_a_model_of_the_ai_sdk_uses_the_tools(
    video: str, settings: dict[str, str], packed_typescript: Path, tmp_path: Path
) -> None:
    program = tmp_path / "program"
    program.mkdir()
    shutil.copy(EXAMPLES / "vercel_ai" / "videoTools.ts", program)
    (program / "agent.ts").write_text(AGENT)
    (program / "package.json").write_text('{"type": "module"}')
    (program / "tsconfig.json").write_text(json.dumps({"compilerOptions": COMPILER}))
    run("npm", "install", "--no-audit", "--no-fund", packed_typescript, *NPM, folder=program)
    run("node_modules/.bin/tsc", folder=program)

    with working():
        output = run("node", "agent.js", video, folder=program, **settings)

    answer, moments = json.loads(output)
    assert answer["answer"] == SCENES[0]
    assert [one["start_ms"] for one in answer["evidence"]] == [0, 30_000]
    assert (moments[0]["summary"], moments[0]["video_id"]) == (SCENES[1], video)
