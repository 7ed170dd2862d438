"""The status of every role, as manage.py models and /readyz show it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from gpu_workers.engine.models.capabilities import forget_reports
from gpu_workers.engine.models.model_table import ROLES
from gpu_workers.engine.models.settings import ModelSettings
from gpu_workers.engine.models.status import RoleStatus, log_faults, model_status
from tests.abilities import Abilities
from tests.scripted_openai import ScriptedOpenAIServer

MINILM = RoleStatus("token_embedder", "in_process", "all-minilm-l6-v2", licence="Apache-2.0")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for role in ROLES:
        for part in ("URL", "MODEL", "API_KEY", "CONTEXT_TOKENS"):
            monkeypatch.delenv(f"{role.upper()}_{part}", raising=False)
    monkeypatch.delenv("MODEL_PRESET", raising=False)
    forget_reports()
    yield
    forget_reports()


def by_role(settings: ModelSettings) -> dict[str, RoleStatus]:
    return {status.role: status for status in model_status(settings)}


def test_without_variables_everything_runs_in_process_and_nothing_fails() -> None:
    found = by_role(ModelSettings())
    assert list(found) == [*ROLES, "detector"]
    assert {role for role, status in found.items() if status.runs == "absent"} == {"reasoner", "reranker", "entailer"}
    assert found["describer"].model == "observer"
    assert found["token_embedder"] == MINILM
    assert found["transcriber"].model == "whisper-base"
    assert not log_faults(list(found.values()))


def test_the_detector_is_absent_where_nothing_is_tracked() -> None:
    with ScriptedOpenAIServer() as server:
        env = {"MODEL_PRESET": "gpu-48gb", "DESCRIBER_URL": server.url, "DESCRIBER_MODEL": server.model}
        tracked, untracked = (by_role(ModelSettings.from_env({**env, "AVA_TRACKS": on})) for on in ("on", "off"))
    assert (tracked["detector"].runs, tracked["detector"].model) == ("in_process", "PekingU/rtdetr_v2_r50vd")
    assert untracked["detector"].runs == "absent"
    assert by_role(ModelSettings(preset="gpu-48gb", device="cpu"))["detector"].model == "ssd-mobilenet-v2"


def test_a_served_role_shows_its_window_and_abilities() -> None:
    with ScriptedOpenAIServer(abilities=Abilities(window=4_096, schemas=False)) as server:
        env = {"REASONER_URL": server.url, "RERANKER_URL": server.url, "REASONER_CONTEXT_TOKENS": "2000"}
        found = by_role(ModelSettings.from_env(env))
    reasoner = found["reasoner"]
    assert (reasoner.runs, reasoner.model, reasoner.window, reasoner.error) == ("served", "scripted", 2_000, "")
    assert reasoner.host == server.url.removeprefix("http://").removesuffix("/v1")
    assert reasoner.abilities == {
        "images": True, "video": False, "schemas": False, "samples": True, "log_probabilities": True, "thinks": False,
    }  # fmt: skip
    assert (found["reranker"].window, found["reranker"].abilities) == (4_096, {})


def test_a_missing_model_is_logged_as_an_error_with_its_name(caplog: pytest.LogCaptureFixture) -> None:
    with ScriptedOpenAIServer(model="Qwen-AWQ") as server:
        env = {"DESCRIBER_URL": server.url, "DESCRIBER_MODEL": "Qwen", "TEXT_EMBEDDER_URL": server.url}
        found = model_status(ModelSettings.from_env({**env, "TEXT_EMBEDDER_MODEL": "bge"}))
        with caplog.at_level(logging.ERROR, "ava.models"):
            faulty = log_faults(found)
    assert [status.role for status in faulty] == ["describer", "checker", "text_embedder"]
    assert all("it lists Qwen-AWQ" in record.message for record in caplog.records)
    assert caplog.records[0].message.startswith("describer (Qwen at 127.0.0.1:")
