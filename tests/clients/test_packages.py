"""Both clients as packages: built, installed into empty folders, and run by the lines of their READMEs.

Needs the package indexes of Python and of npm.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connections

from backend.library.models import Video, VideoStatus
from backend.questions.models import Question
from infra.clients import python_client, typescript_client
from tests.api.servers import PROJECT, ServerProcess
from tests.api.test_documented_calls import QUICKSTART, answering, indexed_video
from tests.clients.test_python_client import url
from tests.conftest import Cast

pytestmark = pytest.mark.long


def run(*command: object, folder: Path, **environment: str) -> str:
    """Run a command in a folder. Fails with all that it said."""
    arguments = [str(part) for part in command]
    done = subprocess.run(
        arguments, cwd=folder, capture_output=True, text=True, timeout=400, env=os.environ | environment
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def snippets(page: Path, language: str) -> str:
    """Return all code of a language on a page as one program."""
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE))


@contextmanager
def indexing(acme: Cast) -> Iterator[None]:
    """Have the index of each video that is sent meanwhile, as a worker would: no worker runs here."""
    over = threading.Event()

    def index() -> None:
        while not over.wait(0.5):
            with acme.scope():
                waiting = Video.objects.exclude(status=VideoStatus.READY)
                waiting.update(status=VideoStatus.READY, indexed_until_ms=60_000, duration_ms=60_000)
        connections.close_all()

    thread = threading.Thread(target=index)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gate.mp4").write_bytes(os.urandom(1 << 20))
    return tmp_path


def asked(acme: Cast) -> int:
    with acme.scope():
        return Question.objects.filter(text="Who opens the gate?").count()


def test_the_python_package_runs_its_readme(acme: Cast, server: ServerProcess, folder: Path) -> None:
    source = python_client.PACKAGE.parents[1]
    shutil.copytree(source, folder / "source", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
    venv.create(folder / "empty", with_pip=True)
    python = folder / "empty" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", f"{folder / 'source'}[cli,mcp]", folder=folder)
    program = snippets(source / "README.md", "python")
    settings = {"AVA_API_KEY": acme.key, "AVA_BASE_URL": url(server), "PYTHONPATH": ""}

    with indexing(acme), answering(acme):
        output = run(python, "-c", program, folder=folder, **settings)

    assert "supported" in output
    assert asked(acme) == 1
    listed = run(folder / "empty" / "bin" / "ava", "videos", folder=folder, **settings)
    assert listed.split("\t")[1] == "ready"


def test_the_typescript_package_runs_its_readme(
    acme: Cast, server: ServerProcess, folder: Path, packed_typescript: Path
) -> None:
    source = typescript_client.PACKAGE
    program = folder / "program"
    program.mkdir()
    (program / "package.json").write_text('{"type": "module"}')
    run("npm", "install", "--no-audit", "--no-fund", packed_typescript, folder=program)
    shutil.copy(folder / "gate.mp4", program)
    (program / "readme.mjs").write_text(snippets(source / "README.md", "ts"))
    (program / "more.mjs").write_text(MORE)
    (program / "quickstart.mjs").write_text(snippets(QUICKSTART, "ts"))
    shutil.copy(folder / "gate.mp4", program / "clip.mp4")
    settings = {"AVA_API_KEY": acme.key, "AVA_BASE_URL": url(server)}
    video = indexed_video(acme)

    with indexing(acme), answering(acme):
        output = run("node", "readme.mjs", folder=program, **settings)
        more = run("node", "more.mjs", video, folder=program, **settings)
        quickstart = run("node", "quickstart.mjs", folder=program, **settings)

    assert "supported" in output
    assert asked(acme) == 1
    assert quickstart.splitlines()[:2] == ["a red car", "3000 9000 supported A red car parks."]
    assert "/share" in quickstart.splitlines()[2]
    assert more.splitlines() == ["same video", "answer", "2 listed", "not_found", "fresh", "WEBVTT"]


MORE = """
import {createHmac} from "node:crypto";
import {Ava, ApiError, webhooks} from "@ava-cloud/client";
const ava = new Ava();
const first = await ava.videos.upload("gate.mp4");
const again = await ava.videos.upload("gate.mp4");
console.log(first.id === again.id ? "same video" : "two videos");
let last;
for await (const event of ava.askStream({question: "What does the man do?", video_ids: [process.argv[2]]})) {
  last = event.type;
}
console.log(last);
let listed = 0;
for await (const video of ava.videos.list()) listed += video.id ? 1 : 0;
console.log(`${listed} listed`);
try {
  await ava.videos.get("vid_1111111111111111111111");
} catch (error) {
  console.log(error instanceof ApiError ? error.code : error);
}
const now = Math.floor(Date.now() / 1000);
const key = Buffer.from("0123456789abcdef01234567");
const signature = createHmac("sha256", key).update(`msg_1.${now}.{"type":"video.ready"}`).digest("base64");
const headers = {"webhook-id": "msg_1", "webhook-timestamp": `${now}`, "webhook-signature": `v1,${signature}`};
const secret = `whsec_${key.toString("base64")}`;
const event = await webhooks.unwrap('{"type":"video.ready"}', headers, secret);
console.log(event.type === "video.ready" ? "fresh" : event);
console.log((await ava.videos.captions(process.argv[2])).slice(0, 6));
"""


def test_the_readme_of_the_project_opens_with_the_same_lines() -> None:
    readme = python_client.PACKAGE.parents[1] / "README.md"
    assert snippets(readme, "python") in (PROJECT / "README.md").read_text()
