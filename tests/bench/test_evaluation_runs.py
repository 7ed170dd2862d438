"""`make eval` from its arguments to its report, with a scripted reasoner and everything else real."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.evaluation import __main__ as evaluation
from bench.evaluation import fit_support
from bench.evaluation.arms import ABLATIONS, CHOICE_ARMS, METHOD_ARMS, WITHOUT_REASONER, ChoiceArm, Outcome
from bench.evaluation.datasets import ChoiceQuestion
from bench.evaluation.localizing import LOCALIZE_ARMS
from bench.evaluation.tape_arms import TAPE_ARMS
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.calibration import EMBEDDED_REASONER
from tests.abilities import Abilities
from tests.bench.question_sets import ACTIVITYNET, EGOSCHEMA, GARDEN, NEXTQA, SPANS, TACOS, egoschema_row, written
from tests.scripted_openai import Fault, Reply, ScriptedOpenAIServer, ScriptedRequest

ROOT = Path(__file__).parents[2]
# One process, because the text models are loaded once.
pytestmark = pytest.mark.slow

AGENTS_WITHOUT_EVENTS = {"dvd_lite_paper", "videoagent_mem_paper"}
"""Arms that show no event before the reasoner asks for one, which this one never does: it answers at once."""

TRUTHS = {"What is washed?": "A", "What is watered?": "B", "What is painted?": "C"}


def knowing(request: ScriptedRequest) -> Reply:
    """Answer right about the kitchen and the workshop, and D about everything else."""
    known = [letter for text, letter in TRUTHS.items() if text in request.user and letter != "B"]
    said = {"reasoning": "It is written.", "answer": known[0] if known else "D", "evidence": [1]}
    return Reply(said, prompt_tokens=100, cached_tokens=40, completion_tokens=7)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a cache that is empty except for the weights."""
    kept = weights.cache_dir() / "weights"
    kept.mkdir(parents=True, exist_ok=True)
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / "weights").symlink_to(kept)
    monkeypatch.setenv("AVA_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def reasoner(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedOpenAIServer]:
    for name in ("MODEL_PRESET", "REASONER_API_KEY", "DESCRIBER_URL"):
        monkeypatch.delenv(name, raising=False)
    with ScriptedOpenAIServer(
        knowing, model=EMBEDDED_REASONER, abilities=Abilities(listed={"aliases": ["another"]})
    ) as server:
        monkeypatch.setenv("REASONER_URL", server.url)
        monkeypatch.setenv("REASONER_MODEL", server.model)
        yield server


@pytest.fixture
def ego(tmp_path: Path) -> Path:
    return written(tmp_path / "data", egoschema_dev=EGOSCHEMA)


def run(out: Path, name: str, data: Path, arm: str, *more: str) -> dict[str, Any]:
    assert evaluation.main([f"--set={name}", f"--data={data}", f"--arm={arm}", f"--out={out}", *more]) == 0
    body: dict[str, Any] = json.loads(out.read_text())
    return body


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the error text of a command that ends with status 2 before anything is loaded."""
    with pytest.raises(SystemExit) as ended:
        evaluation.main(arguments)
    assert ended.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


# --- reports -------------------------------------------------------------------------------------------------------


def test_a_report_holds_accuracy_cost_and_every_item(
    tmp_path: Path, ego: Path, reasoner: ScriptedOpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    body = run(tmp_path / "deep" / "report.json", "egoschema", ego, "caption_rag")

    assert (body["set"], body["arm"], body["seed"], body["limit"], body["measure"]) == (
        "egoschema", "caption_rag", 0, None, "accuracy",
    )  # fmt: skip
    assert (body["reasoner"], body["n"], body["abstained"]) == (EMBEDDED_REASONER, 3, 0)
    assert body["embedder"]
    assert body["accuracy"] == pytest.approx(2 / 3)
    assert body["ci95"] == pytest.approx([0.2077, 0.9385], abs=5e-5)
    assert body["by_type"] == {}
    assert set(body["confidence"]) == {"auroc", "calibration_error"}
    assert (body["finish_reasons"], body["details"], body["against"]) == ({"answered": 3}, {}, [])
    requests = len(reasoner.requests)
    assert body["per_item"]["calls"] == pytest.approx(requests / 3)
    assert body["per_item"]["prompt_tokens"] == pytest.approx(100 * requests / 3)
    assert body["per_item"]["cached_tokens"] == pytest.approx(40 * requests / 3)
    assert body["per_item"]["completion_tokens"] == pytest.approx(7 * requests / 3)
    items = {item["id"]: item for item in body["items"]}
    assert {key: (item["given"], item["truth"], item["right"]) for key, item in items.items()} == {
        "kitchen": (0, 0, {"1": True}),
        "garden": (3, 1, {"1": False}),
        "workshop": (2, 2, {"1": True}),
    }
    assert "accuracy 66.7%" in capsys.readouterr().out


def test_types_are_distinguished_and_a_report_is_compared_item_by_item(
    tmp_path: Path, reasoner: ScriptedOpenAIServer
) -> None:
    data = written(tmp_path / "data", nextqa_dev=NEXTQA, nextgqa_spans_dev=SPANS)
    first = tmp_path / "first.json"
    wrong = run(first, "nextqa", data, "question_only")
    reasoner.script = {"reasoning": "The dog drinks.", "answer": "B", "evidence": [1]}

    body = run(tmp_path / "second.json", "nextqa", data, "uniform_captions", f"--against={first}")

    assert {kind: (group["n"], group["accuracy"]) for kind, group in wrong["by_type"].items()} == {
        "CW": (1, 0.0), "TN": (1, 1.0),
    }  # fmt: skip
    assert {kind: group["accuracy"] for kind, group in body["by_type"].items()} == {"CW": 1.0, "TN": 0.0}
    (other,) = body["against"]
    assert (other["report"], other["arm"]) == (str(first), "question_only")
    assert (other["n"], other["gained"], other["lost"], other["difference"], other["p_value"]) == (2, 1, 1, 0.0, 1.0)


@pytest.mark.parametrize("arm", CHOICE_ARMS + METHOD_ARMS + ABLATIONS)
def test_every_arm_answers_choices_and_only_those_that_need_it_ask_a_reasoner(
    tmp_path: Path, reasoner: ScriptedOpenAIServer, arm: str
) -> None:
    data = written(tmp_path / "data", nextqa_dev=NEXTQA, nextgqa_spans_dev=SPANS)

    body = run(tmp_path / "report.json", "nextqa", data, arm)

    asked = [item["id"] for item in body["items"]]
    assert sorted(asked) == (["11-4"] if arm == "oracle_events" else ["11-4", "22-0"])
    # With another video's captions there may be no event at all to answer from.
    unanswered = [(item["finish_reason"], item["detail"]) for item in body["items"] if item["given"] is None]
    # Choices of one or two words have no statement that events could support.
    expected = {"shuffled": "no_events", "support_only": "no_support"}
    assert set(unanswered) <= ({("insufficient_evidence", expected[arm])} if arm in expected else set())
    assert (len(unanswered) == 2) == (arm == "support_only")
    assert (not reasoner.requests) == (arm in WITHOUT_REASONER)
    assert body["reasoner"] == ("" if arm in WITHOUT_REASONER else EMBEDDED_REASONER)
    told = "\n".join(request.user for request in reasoner.requests)
    seen = {"green container": "container" in told, "skater": "spins on the ice" in told}
    if arm == "question_only":
        assert not any(seen.values())
    elif arm == "oracle_events":
        assert "bends down" in told
        assert not seen["skater"]
    elif arm not in WITHOUT_REASONER | AGENTS_WITHOUT_EVENTS:
        assert any(seen.values())


@pytest.mark.parametrize("arm", LOCALIZE_ARMS)
def test_the_first_moment_of_a_question_is_compared_with_the_marked_spans(
    tmp_path: Path, reasoner: ScriptedOpenAIServer, arm: str
) -> None:
    # The dog bends in the second of three captions. Marked is the time from 1.0 to 2.5 s.
    data = written(tmp_path / "data", nextqa_dev=NEXTQA, nextgqa_spans_dev=SPANS)
    reasoner.script = {"fits": [1]}

    body = run(tmp_path / "report.json", "nextqa", data, arm)

    (item,) = body["items"]
    assert item["id"] == "11-4", "nobody marked the other question"
    assert item["right"]["1"] == (item["given"] > 0)
    if arm != "localize_random":
        assert item["given"] in ({1, 2} if arm == "localize_ranked" else {1})
    assert item["confidence"] is None
    assert len(reasoner.requests) == (arm == "localize_ranked")
    assert body["by_type"] == {"CW": {"n": 1, "accuracy": body["accuracy"], "ci95": body["ci95"]}}


def test_shuffled_captions_are_those_of_another_video(tmp_path: Path, reasoner: ScriptedOpenAIServer) -> None:
    data = written(tmp_path / "data", nextqa_dev=NEXTQA)

    run(tmp_path / "report.json", "nextqa", data, "shuffled")

    for request in reasoner.requests:
        about_the_dog = "why does the dog bend" in request.user
        assert ("spins on the ice" in request.user) == about_the_dog
        assert ("green container" in request.user) != about_the_dog


@pytest.mark.parametrize(("name", "files"), [("activitynet", ACTIVITYNET), ("tacos", TACOS)])
@pytest.mark.parametrize("arm", TAPE_ARMS)
def test_every_arm_ranks_the_spans_of_a_tape_without_a_reasoner(
    tmp_path: Path, reasoner: ScriptedOpenAIServer, name: str, files: Any, arm: str
) -> None:
    body = run(tmp_path / "report.json", name, written(tmp_path / "data", **{name: files}), arm)

    assert reasoner.requests == []
    assert (body["reasoner"], body["measure"]) == ("", "recall at IoU 0.5" if name == "activitynet" else "overlap")
    assert set(body["recall"]) == {"R@1", "R@5", "R@10"}
    values = [body["recall"][f"R@{rank}"]["value"] for rank in (1, 5, 10)]
    assert values == sorted(values)
    if arm in ("tfidf", "uniform_captions"):
        # There are only three events, and these arms rank all of them.
        assert values[1] == 1.0 if name == "tacos" else values[1] == pytest.approx(2 / 3)
    assert all(item["given"] is None for item in body["items"])


# --- resuming, and prefixes ------------------------------------------------------------------------------------------


def test_a_run_that_was_stopped_goes_on_where_it_was(
    tmp_path: Path, ego: Path, cache: Path, reasoner: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(tmp_path / "whole.json", "egoschema", ego, "caption_rag")
    everything = len(reasoner.requests)
    for kept in (*cache.glob("evaluation/runs/*"), *cache.glob("evaluation/calls.sqlite*")):
        kept.unlink()
    reasoner.requests.clear()
    answer = ChoiceArm.ask
    asked: list[str] = []

    def stopped(arm: ChoiceArm, question: ChoiceQuestion) -> Outcome:
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(question.id)
        return answer(arm, question)

    monkeypatch.setattr(ChoiceArm, "ask", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "never.json", "egoschema", ego, "caption_rag")
    monkeypatch.setattr(ChoiceArm, "ask", answer)
    before = len(reasoner.requests)
    (kept,) = cache.glob("evaluation/runs/*.jsonl")
    # The end of a run that is killed within a line.
    with kept.open("a") as half:
        half.write('{"id": "work')
    # Calls are stored apart from items: without calls, the finished items save the questions.
    for calls in cache.glob("evaluation/calls.sqlite*"):
        calls.unlink()

    resumed = run(tmp_path / "resumed.json", "egoschema", ego, "caption_rag")

    assert not (tmp_path / "never.json").exists()
    assert 0 < before < everything
    assert len(reasoner.requests) == everything, "what was asked before was not asked again"
    assert [item["id"] for item in resumed["items"]] == [item["id"] for item in whole["items"]]
    assert [item["given"] for item in resumed["items"]] == [item["given"] for item in whole["items"]]
    again = run(tmp_path / "again.json", "egoschema", ego, "caption_rag")
    assert len(reasoner.requests) == everything
    assert again == resumed


def test_questions_asked_at_once_have_the_results_of_one_after_another(
    tmp_path: Path, ego: Path, cache: Path, reasoner: ScriptedOpenAIServer
) -> None:
    in_turn = run(tmp_path / "in_turn.json", "egoschema", ego, "ava")
    for kept in (*cache.glob("evaluation/runs/*"), *cache.glob("evaluation/calls.sqlite*")):
        kept.unlink()
    before = len(reasoner.requests)

    at_once = run(tmp_path / "at_once.json", "egoschema", ego, "ava", "--workers=3")

    assert len(reasoner.requests) == 2 * before > 0
    # Texts that two questions embed at the same time are embedded twice, and in other batches: left out here.
    compared = ("id", "given", "truth", "right", "calls", "prompt_tokens", "finish_reason")
    assert [[item[key] for key in compared] for item in at_once["items"]] == [
        [item[key] for key in compared] for item in in_turn["items"]
    ]


def test_a_call_is_made_once_for_all_runs(
    tmp_path: Path, ego: Path, cache: Path, reasoner: ScriptedOpenAIServer
) -> None:
    first = run(tmp_path / "one.json", "egoschema", ego, "caption_rag")
    everything = len(reasoner.requests)
    for kept in cache.glob("evaluation/runs/*"):
        kept.unlink()

    second = run(tmp_path / "two.json", "egoschema", ego, "caption_rag")

    assert len(reasoner.requests) == everything
    assert second["per_item"]["prompt_tokens"] == first["per_item"]["prompt_tokens"] > 0
    run(tmp_path / "three.json", "egoschema", ego, "caption_rag", "--seed=1")
    assert len(reasoner.requests) == 2 * everything, "another seed is another run"


def test_an_error_of_the_model_is_reported_and_asked_again_next_time(
    tmp_path: Path, ego: Path, reasoner: ScriptedOpenAIServer
) -> None:
    reasoner.script = Fault(400, "bad_request", "no")
    failed = run(tmp_path / "failed.json", "egoschema", ego, "question_only")
    reasoner.script = knowing
    body = run(tmp_path / "report.json", "egoschema", ego, "question_only")

    assert (failed["finish_reasons"], failed["accuracy"], failed["abstained"]) == ({"error": 3}, 0.0, 3)
    assert sum(failed["details"].values()) == 3
    assert (body["finish_reasons"], body["accuracy"]) == ({"answered": 3}, pytest.approx(2 / 3))


def test_a_limited_run_is_a_prefix_of_a_longer_one(tmp_path: Path, cache: Path, reasoner: ScriptedOpenAIServer) -> None:
    rows = {f"v{n}": egoschema_row(["#C C waits"], "What?", list("abcde"), n % 5) for n in range(12)}
    data = written(tmp_path / "data", egoschema=rows)

    def ids(*more: str) -> list[str]:
        return [item["id"] for item in run(tmp_path / "report.json", "egoschema", data, "tfidf", *more)["items"]]

    everything = ids()
    assert ids("--limit=4") == everything[:4]
    assert ids("--limit=7") == everything[:7]
    assert sorted(everything) == sorted(rows)
    assert ids("--seed=5") != everything


# --- arguments -----------------------------------------------------------------------------------------------------


def test_a_run_that_cannot_work_is_refused_before_anything_is_loaded(
    tmp_path: Path, ego: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = {"--set": "egoschema", "--data": str(ego), "--arm": "tfidf"}
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"set": "nextqa", "arm": "ava", "items": []}))
    damaged = tmp_path / "damaged.json"
    damaged.write_text("{")

    def told(**changes: str) -> str:
        arguments = usual | {f"--{name}": value for name, value in changes.items()}
        return refused(capsys, *(f"{name}={value}" for name, value in arguments.items()))

    assert "no arm 'best' for egoschema; there are tfidf, question_only," in told(arm="best")
    assert "no arm 'question_only' for tacos" in told(set="tacos", arm="question_only")
    assert "invalid choice: 'imagenet'" in told(set="imagenet")
    assert f"{tmp_path / 'nowhere'} holds no egoschema*.json" in told(data=str(tmp_path / "nowhere"))
    assert "holds no nextqa*.json" in told(set="nextqa")
    assert "does not say where the answers are seen" in told(arm="oracle_events")
    assert "argument --limit: at least 1" in told(limit="0")
    assert "invalid _count value: 'some'" in told(limit="some")
    assert "nowhere.json is no report: FileNotFoundError" in told(against=str(tmp_path / "nowhere.json"))
    assert "damaged.json is no report" in told(against=str(damaged))
    assert "other.json is a report of nextqa, not of egoschema" in told(against=str(other))
    one = written(tmp_path / "one", egoschema={"kitchen": EGOSCHEMA["kitchen"]})
    assert "no other to shuffle it with" in told(data=str(one), arm="shuffled")
    assert "the following arguments are required: --set" in refused(capsys, "--set=", f"--data={ego}", "--arm=tfidf")
    assert not (cache / "evaluation").exists()


def test_options_that_make_passes_on_empty_are_as_if_nobody_gave_them(
    tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path / "data=", egoschema_dev=EGOSCHEMA)
    make = ["make", "-n", "eval", "SET=egoschema", f"DATA={data}", "ARM=tfidf"]
    recipe = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (command,) = [line for line in recipe.splitlines() if "bench.evaluation" in line]
    arguments = shlex.split(command.split("-m bench.evaluation", 1)[1])

    assert {"--limit=", "--seed=", "--out=", "--against="} <= set(arguments)
    assert evaluation.main(arguments) == 0
    assert "egoschema tfidf: n 3, no language model" in capsys.readouterr().out


def test_weights_are_fitted_to_what_a_reasoner_said_of_each_choice(
    tmp_path: Path,
    reasoner: ScriptedOpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A reasoner without weights, which knows the planted truth; nothing else distinguishes the choices."""
    monkeypatch.setenv("REASONER_MODEL", "another")
    plants = [f"plant{n}" for n in range(12)]
    rows = {
        plant: egoschema_row(GARDEN, f"What of {plant}?", [f"{plant} is planted {k}" for k in "abcde"], n % 5)
        for n, plant in enumerate(plants)
    }
    right = {f"{plant} is planted {'abcde'[n % 5]}" for n, plant in enumerate(plants)}

    def telling(request: ScriptedRequest) -> Reply:
        sure = request.user.split("Proposed answer: ")[-1].splitlines()[0] in right
        yes, no = (-0.1, -2.4) if sure else (-2.4, -0.1)
        first = {"token": "yes", "logprob": yes, "bytes": None}
        other = {"token": "no", "logprob": no, "bytes": None}
        return Reply("yes", logprobs={"content": [{**first, "top_logprobs": [first, other]}], "refusal": None})

    reasoner.script = telling
    assert fit_support.main(["egoschema", str(written(tmp_path / "planted", egoschema_dev=rows))]) == 0

    without, whole = map(json.loads, capsys.readouterr().out.splitlines())
    assert (without["n"], whole["n"], whole["accuracy"]) == (12, 12, 1.0)
    assert without["accuracy"] < 0.6
    assert set(whole) - set(without) == {"odds"}
    assert whole["odds"] > 0


def test_a_reasoner_that_returns_no_odds_leaves_nothing_to_fit(
    ego: Path, reasoner: ScriptedOpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        fit_support.main(["egoschema", str(ego)])
    assert "0 questions are too few" in capsys.readouterr().err


def test_the_command_ends_with_2_and_one_line_that_says_why(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench.evaluation", "--set=tacos", f"--data={tmp_path}", "--arm=ava"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == f"make eval: error: {tmp_path} holds no tacos*.json"
