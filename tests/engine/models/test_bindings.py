"""Bindings, prompts and the vLLM launcher, as far as configuration alone decides."""

from __future__ import annotations

import json
import re
import shlex
from itertools import pairwise

import pytest

from gpu_workers.engine import prompts
from gpu_workers.engine.models.bindings import ModelSettings, load_answer_models, load_index_models
from gpu_workers.engine.models.observer.narrator import MeasuredNarrator
from gpu_workers.engine.models.observer.observer import Observer
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.models.served import vllm_server
from gpu_workers.engine.models.served.vision import VlmChecker, VlmDescriber
from gpu_workers.engine.models.weights import WEIGHTS
from tests.scripted_openai import ScriptedOpenAIServer


def test_the_embedded_profile_needs_nothing_but_weights() -> None:
    settings = ModelSettings.from_env({})
    models = load_index_models(settings)
    assert isinstance(models.describer, Observer)
    assert isinstance(models.narrator, MeasuredNarrator)
    assert models.text_embedder.dimension == models.frame_embedder.dimension == 384
    assert load_index_models(ModelSettings.from_env({})) is models, "loaded once per process"


def test_a_describer_url_replaces_the_observer_by_configuration_alone() -> None:
    env = {
        "DESCRIBER_URL": "http://127.0.0.1:1/v1",
        "DESCRIBER_MODEL": "some-vlm",
        "REASONER_URL": "http://127.0.0.1:1/v1",
    }
    settings = ModelSettings.from_env(env)
    models = load_index_models(settings)
    assert isinstance(models.describer, VlmDescriber)
    assert models.describer.name == models.narrator.name == "some-vlm"
    assert isinstance(load_answer_models(settings).checker, VlmChecker)


def test_answering_without_a_reasoner_says_what_is_missing() -> None:
    with pytest.raises(ModelError, match="REASONER_URL") as caught:
        load_answer_models(ModelSettings())
    assert caught.value.code == "not_configured"


@pytest.mark.parametrize(
    "env", [{"MODEL_PROFILE": "best"}, {"MODEL_CONCURRENCY": "0"}, {"REASONER_CONTEXT_TOKENS": "8k"}]
)
def test_settings_that_make_no_sense_fail_loudly(env: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(env))):
        ModelSettings.from_env(env)


def test_every_packaged_weight_has_its_hashes() -> None:
    for weight in WEIGHTS.values():
        assert weight.files
        assert all(re.fullmatch("[0-9a-f]{64}", file.sha256) for file in weight.files)


@pytest.mark.parametrize("profile", prompts.PROFILES)
def test_every_prompt_exists_for_every_profile(profile: str) -> None:
    for name in ("describe", "describe_focus", "describe_view", "summarise", "summarise_view", "extract",
                 "extract_focus",
                 "extract_view", "check", "check_observed", "check_view"):  # fmt: skip
        assert prompts.load(name, profile).is_valid()


def test_scenarios_differ_in_their_words_and_unknown_names_fail() -> None:
    assert len({prompts.load("describe_focus", profile).template for profile in prompts.PROFILES}) == 5
    with pytest.raises(LookupError):
        prompts.load("../secrets", "general")
    with pytest.raises(ValueError, match="no profile"):
        prompts.load("describe", "../general")


def test_the_launcher_prints_a_tuned_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert vllm_server.main(["--role", "vlm", "--port", "8001", "--tensor-parallel", "2", "--print"]) == 0
    argv = shlex.split(capsys.readouterr().out)
    assert argv[1:3] == ["-m", "vllm.entrypoints.openai.api_server"]
    options = dict(pairwise(argv[3:]))
    assert options["--port"] == "8001"
    assert options["--tensor-parallel-size"] == "2"
    assert options["--limit-mm-per-prompt"] == '{"image": 64, "video": 0}'
    assert "--enable-prefix-caching" in argv
    assert "--limit-mm-per-prompt" not in vllm_server.server_argv("llm")


def test_the_launcher_serves_on_a_cpu_under_a_short_name(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--cpu", "--compact-json", "--images", "16", "--served-name", "small", "--model", "/some/folder"]
    assert vllm_server.main(["--role", "vlm", *given, "--print"]) == 0
    argv = shlex.split(capsys.readouterr().out)
    assert "--enforce-eager" in argv
    assert "--gpu-memory-utilization" not in argv
    pairs = dict(pairwise(argv))
    assert (pairs["--model"], pairs["--served-model-name"]) == ("/some/folder", "small")
    assert json.loads(pairs["--limit-mm-per-prompt"]) == {"image": 16, "video": 0}
    assert json.loads(pairs["--structured-outputs-config"]) == {"backend": "xgrammar", "disable_any_whitespace": True}


def test_without_vllm_the_launcher_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert vllm_server.main(["--role", "llm"]) == 1
    assert "vllm is not installed" in capsys.readouterr().err


def test_health_is_awaited_and_its_absence_reported() -> None:
    with ScriptedOpenAIServer() as server:
        vllm_server.wait_healthy(server.url, 5)
        url = server.url
    ticks = iter(range(100))
    with pytest.raises(TimeoutError, match="no healthy server"):
        vllm_server.wait_healthy(url, 3, clock=lambda: next(ticks), sleep=lambda s: None)


def test_models_are_loaded_once_per_process() -> None:
    """Every question of a worker uses the same models, and so the same open connections and weights."""
    settings = ModelSettings(reasoner_url="http://127.0.0.1:9/v1", reasoner_model="none")
    assert load_answer_models(settings) is load_answer_models(settings)
    other = ModelSettings(reasoner_url="http://127.0.0.1:9/v1", reasoner_model="another")
    assert load_answer_models(other).reasoner is not load_answer_models(settings).reasoner
    # Weights do not depend on where the reasoner is.
    assert load_index_models(settings).text_embedder is load_index_models(settings).text_embedder
