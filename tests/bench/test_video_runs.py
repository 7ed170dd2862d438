"""`make eval-videos` from its arguments to its report: a real file, real indexing, and a scripted reasoner."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.evaluation.videos import __main__ as runs
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.calibration import EMBEDDED_REASONER
from tests.engine.indexing.media import write_steady
from tests.scripted_openai import Fault, Reply, ScriptedOpenAIServer, ScriptedRequest

pytestmark = pytest.mark.slow


def knowing(request: ScriptedRequest) -> Reply:
    said = {"reasoning": "It is written.", "answer": "B" if "B. " in request.user else "a pattern", "evidence": [1]}
    return Reply(said, prompt_tokens=100, completion_tokens=7)


@pytest.fixture
def reasoner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedOpenAIServer]:
    kept = weights.cache_dir() / "weights"
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "weights").symlink_to(kept)
    monkeypatch.setenv("AVA_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("MODEL_PRESET", "REASONER_API_KEY", "DESCRIBER_URL", "CHECKER_URL"):
        monkeypatch.delenv(name, raising=False)
    with ScriptedOpenAIServer(knowing, model=EMBEDDED_REASONER) as server:
        monkeypatch.setenv("REASONER_URL", server.url)
        monkeypatch.setenv("REASONER_MODEL", server.model)
        yield server


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    """Return the arguments of a run over two files with two choice questions and an open one."""
    for name in ("one", "two"):
        (tmp_path / "videos").mkdir(exist_ok=True)
        write_steady(tmp_path / "videos" / f"{name}.mp4", 4 if name == "one" else 5)
    choice = {"choices": ["a cat", "a pattern"], "truth": 1, "kind": "what", "spans": [[0, 4]]}
    rows = [
        {"video": "one.mp4", "question": "What is shown?", **choice},
        {"video": "two.mp4", "question": "What is seen?", **choice, "truth": 0},
        {"video": "two.mp4", "question": "What is it?", "truth": "A pattern.", "kind": "open"},
    ]
    manifest = tmp_path / "own.jsonl"
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [f"--manifest={manifest}", f"--videos={tmp_path / 'videos'}", f"--out={tmp_path / 'out'}"]


def report(out: Path) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((out / "report.json").read_text())
    return body


def test_shards_fill_one_report_and_a_second_run_asks_nothing(
    reasoner: ScriptedOpenAIServer, asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, methods = tmp_path / "out", "--methods=caption_rag,uniform"

    assert runs.main([*asked, methods, "--shard=1/2"]) == 0
    assert {label: body["asked"] for label, body in report(out).items()} == {
        "caption_rag medium": 1,
        "uniform medium": 1,
    }
    assert runs.main([*asked, methods, "--shard=2/2"]) == 0

    body = report(out)["caption_rag medium"]
    assert (body["asked"], body["n"], body["grades"]["right"], body["grades"]["wrong"]) == (3, 3, 2, 1)
    assert body["decided"] == {"single call": 3}
    assert body["span_hits"]["n"] == 2
    assert {row["video"] for row in body["items"]} == {"one", "two"}
    assert len(list((tmp_path / "cache" / "evaluation" / "videos").glob("*.pickle"))) == 2, "one index per video"
    cited = [cited for row in body["items"] for cited in row["citations"] if cited["frame"]]
    assert cited
    assert all((out / one["frame"]).read_bytes().startswith(b"\xff\xd8") for one in cited)

    before = len(reasoner.requests)
    with (out / "caption_rag_medium.1of2.jsonl").open("a") as file:
        file.write('{"arm": "cut')
    assert runs.main([*asked, methods, "--shard=1/2"]) == 0
    assert len(reasoner.requests) == before
    assert report(out)["caption_rag medium"]["asked"] == 3
    assert "uniform medium against caption_rag medium" in capsys.readouterr().out

    # Another setting is another arm.
    assert runs.main([*asked, "--methods=ava", "--ablate=depth=1,support=off,merge=0.99", "--limit=1"]) == 0
    (label,) = [label for label in report(out) if label.startswith("ava")]
    assert label == "ava medium depth=1,support=off,merge=0.99"
    assert len(list((tmp_path / "cache" / "evaluation" / "videos").glob("*.pickle"))) == 3, "an index of its own"


def test_a_question_whose_calls_failed_is_asked_again(
    reasoner: ScriptedOpenAIServer, asked: list[str], tmp_path: Path
) -> None:
    reasoner.script = Fault(400, "invalid_request_error", "broken")
    arguments = [*asked, "--methods=caption_rag", "--limit=1"]
    assert runs.main(arguments) == 0
    assert report(tmp_path / "out") == {}

    reasoner.script = knowing
    assert runs.main(arguments) == 0
    assert report(tmp_path / "out")["caption_rag medium"]["asked"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--methods=nothing"], "no method nothing; there are ava"),
        (["--shard=3/2"], "--shard is i/n"),
        (["--ablate=depth"], "write name=value"),
        (["--ablate=rounds=1"], "ava has no setting 'rounds'"),
        (["--methods=direct_vlm", "--ablate=depth=1"], "direct_vlm has no settings"),
        (["--service=http://127.0.0.1:1"], "AVA_API_KEY"),
        (["--service=http://127.0.0.1:1", "--ablate=depth=1"], "a service has its own settings"),
        (["--service=http://127.0.0.1:1", "--methods=direct_vlm"], "no method direct_vlm"),
        (["--format=lvbench"], "is no file of lvbench"),
    ],
)
def test_what_cannot_be_run_is_said_before_anything_is_loaded(
    asked: list[str],
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("AVA_API_KEY", raising=False)

    with pytest.raises(SystemExit) as ended:
        runs.main([*asked, *arguments])

    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_baseline_without_eyes_is_refused(reasoner: ScriptedOpenAIServer, asked: list[str]) -> None:
    with pytest.raises(SystemExit, match="needs a model that sees pictures"):
        runs.main([*asked, "--methods=direct_vlm"])
