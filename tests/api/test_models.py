"""The models as an operator sees them: manage.py models, and /readyz with what the workers last found out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings
from rest_framework.test import APIClient

from backend.api.monitoring import model_reports
from gpu_workers.engine.models.capabilities import forget_reports
from gpu_workers.engine.models.model_table import ROLES
from gpu_workers.tasks.models import check_models
from tests.abilities import Abilities
from tests.scripted_openai import ScriptedOpenAIServer


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for role in ROLES:
        for part in ("URL", "MODEL", "API_KEY", "CONTEXT_TOKENS"):
            monkeypatch.delenv(f"{role.upper()}_{part}", raising=False)
    monkeypatch.delenv("MODEL_PRESET", raising=False)
    forget_reports()
    yield
    forget_reports()


def printed(*options: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("models", *options, stdout=out)
    except SystemExit as ended:
        return int(str(ended.code)), out.getvalue()
    return 0, out.getvalue()


def test_the_command_prints_every_role_and_fails_with_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedOpenAIServer(model="Qwen/Qwen3-32B-AWQ") as server:
        monkeypatch.setenv("REASONER_URL", server.url)
        status, text = printed()
        assert status == 0
        (line,) = [line for line in text.splitlines() if line.startswith("reasoner")]
        assert line.split()[1:3] == ["served", "Qwen/Qwen3-32B-AWQ"]
        assert "Apache-2.0  0499c3ac83fd  window 32768  schemas, samples, log probabilities, thinks" in line
        rows = [json.loads(row) for row in printed("--json")[1].splitlines()]
        assert [row["role"] for row in rows] == [*ROLES, "detector"]
        forget_reports()
        server.abilities = Abilities(models_status=503)
        status, text = printed()
        assert status == 1
        assert "FAILS: model_unavailable" in text


def test_the_command_names_a_wrong_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_PRESET", "best")
    with pytest.raises(CommandError, match="MODEL_PRESET is one of"):
        printed()


def test_readyz_shows_what_the_workers_found_and_depends_on_none_of_it(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedOpenAIServer(abilities=Abilities(window=8_192, log_probabilities=False)) as server:
        monkeypatch.setenv("REASONER_URL", server.url)
        monkeypatch.setenv("RERANKER_URL", server.url)
        monkeypatch.setenv("RERANKER_MODEL", "bge")
        assert [status.role for status in check_models()] == ["reranker"]

    response = APIClient().get("/readyz")

    assert response.status_code == 200, "a missing model stops no upload and no question"
    shown = response.json()["models"]
    assert set(shown) == {*ROLES, "detector"}
    assert {name: shown["reasoner"][name] for name in ("runs", "model", "window", "abilities", "usable")} == {
        "runs": "served",
        "model": "scripted",
        "window": 8_192,
        "abilities": ["images", "schemas", "samples"],
        "usable": True,
    }
    assert shown["reranker"]["usable"] is False
    assert b"127.0.0.1" not in response.content, "hosts and reasons are for the log"


def test_a_report_has_an_age_and_is_replaced(database: None) -> None:
    model_reports.publish({"reasoner": {"model": "a"}}, now=1_000.0)
    model_reports.publish({"reasoner": {"model": "b"}}, now=1_010.0)
    assert model_reports.last_known(now=1_070.4)["reasoner"] == {"model": "b", "age_seconds": 60}


def test_without_redis_a_worker_still_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    with override_settings(REDIS_URL="redis://127.0.0.1:9/0"):
        assert check_models() == []
