"""The model settings: a preset's defaults, and the variables that win over them."""

from __future__ import annotations

import pytest

from gpu_workers.engine.models.model_table import ROLES
from gpu_workers.engine.models.settings import ModelSettings, RoleSettings

VLM = "Qwen/Qwen3-VL-8B-Instruct-FP8"


def test_without_variables_nothing_is_served() -> None:
    settings = ModelSettings.from_env({})
    assert settings == ModelSettings()
    assert all(settings.role(role) == RoleSettings() for role in ROLES)


def test_urls_alone_choose_servers_and_no_name_is_assumed() -> None:
    settings = ModelSettings.from_env({"DESCRIBER_URL": "http://a/v1/", "REASONER_URL": "https://b/v1"})
    assert settings.describer == RoleSettings("http://a/v1")
    assert settings.checker == settings.describer
    assert settings.reasoner == RoleSettings("https://b/v1")


def test_a_preset_names_the_models_and_variables_win() -> None:
    env = {"MODEL_PRESET": "two-gpus", "DESCRIBER_URL": "http://a/v1", "MODEL_API_KEY": "ours"}
    settings = ModelSettings.from_env(env)
    assert settings.describer == RoleSettings("http://a/v1", VLM, "ours")
    assert settings.reasoner.model == "Qwen/Qwen3-32B-AWQ"
    assert settings.similarity == "all-minilm-l6-v2"
    changed = ModelSettings.from_env(
        {
            **env,
            "DESCRIBER_MODEL": "mine",
            "DESCRIBER_API_KEY": "k",
            "SIMILARITY_MODEL": "microsoft/deberta-xlarge-mnli",
        }
    )
    assert changed.describer == RoleSettings("http://a/v1", "mine", "k")
    assert changed.similarity == "microsoft/deberta-xlarge-mnli"


def test_the_transcriber_s_model_is_the_server_s_or_the_worker_s_own() -> None:
    own = ModelSettings.from_env({"MODEL_PRESET": "two-gpus"}).transcriber
    assert (own.url, own.model) == ("", ""), "the preset names the worker's own model, for a card or a CPU"
    served = ModelSettings.from_env({"MODEL_PRESET": "two-gpus", "TRANSCRIBER_URL": "http://t/v1"}).transcriber
    assert served == RoleSettings("http://t/v1", "openai/whisper-large-v3-turbo")
    named = ModelSettings.from_env({"TRANSCRIBER_MODEL": "mine"}).transcriber
    assert (named.url, named.model) == ("", "mine")


def test_a_checker_of_its_own_gets_no_key_of_the_describer() -> None:
    env = {"DESCRIBER_URL": "http://a/v1", "DESCRIBER_API_KEY": "theirs", "DESCRIBER_CONTEXT_TOKENS": "9000"}
    same = ModelSettings.from_env({**env, "CHECKER_MODEL": "larger"})
    assert same.checker == RoleSettings("http://a/v1", "larger", "theirs", 9_000)
    other = ModelSettings.from_env({**env, "CHECKER_URL": "http://c/v1", "MODEL_PRESET": "four-gpus"})
    assert other.checker == RoleSettings("http://c/v1", "Qwen/Qwen3-VL-30B-A3B-Instruct-FP8", "", None)
    assert "theirs" not in repr(same), "keys do not reach logs"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MODEL_PRESET", "best"),
        ("MODEL_CONCURRENCY", "0"),
        ("REASONER_CONTEXT_TOKENS", "8k"),
        ("MODEL_DEVICE", "tpu"),
        ("RERANKER_URL", "vllm:8000"),
    ],
)
def test_settings_that_make_no_sense_fail_with_their_name(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name):
        ModelSettings.from_env({name: value})
