"""What the rehearsal reads out of compose.yaml, and what it says of the images of each preset."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_workers.engine.models.model_table import table
from infra.rehearsal import checks, compose, plan
from infra.rehearsal.compose import Mount, Port, replicas
from infra.rehearsal.report import Report

FILE = """
services:
  web:
    image: ava/api:1
    build: {context: ., dockerfile: api.Dockerfile}
    entrypoint: ["serve", "$$HOME"]
    environment: {GIVEN: "a${TOKEN:?}$$b", ABSENT: null, HANDED: null}
    volumes: ["data:/data", "./settings:/etc/settings:ro"]
    tmpfs: [/tmp]
    read_only: true
    ports: ["127.0.0.1:9000:8000"]
    restart: unless-stopped
    stop_grace_period: 1m30s
    deploy: {replicas: 2}
    networks: {default: {aliases: [web.localhost]}}
    healthcheck: {test: ["CMD-SHELL", "probe $$(hostname)"], interval: 5s, timeout: 2s, start_period: 1m}
    depends_on:
      make: {condition: service_completed_successfully}
      card: {condition: service_healthy, required: false}
  make:
    image: ava/api:1
    command: ["make"]
    restart: "no"
  card:
    image: other/card:1.2
    profiles: [gpu]
    deploy: {resources: {reservations: {devices: [{driver: nvidia, device_ids: ["3"], capabilities: [gpu]}]}}}
volumes: {data: {}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "compose.yaml").write_text(FILE)
    (tmp_path / "first.env").write_text("TOKEN=first\nHANDED=on\n")
    (tmp_path / "second.env").write_text("TOKEN=t0\n")
    return tmp_path


def services(folder: Path, *names: str) -> dict[str, compose.Service]:
    return compose.services([folder / name for name in names], file=folder / "compose.yaml")


def test_a_service_has_what_its_container_gets(folder: Path):
    web = services(folder, "first.env", "second.env")["web"]
    assert web.environment == {"GIVEN": "at0$b", "HANDED": "on"}
    assert web.entrypoint == ("serve", "$HOME")
    assert web.command is None
    assert web.dockerfile == folder / "api.Dockerfile"
    assert web.mounts == (
        Mount("data", "/data", named=True, read_only=False),
        Mount(str(folder / "settings"), "/etc/settings", named=False, read_only=True),
    )
    assert web.ports == (Port("127.0.0.1", 9000, 8000),)
    assert (web.tmpfs, web.read_only, web.restarts, web.grace_s) == (("/tmp",), True, True, 90.0)
    assert web.aliases == ("web.localhost",)
    assert replicas(web) == ["web-1", "web-2"]
    assert web.health_check is not None
    assert web.health_check.test == ("/bin/sh", "-c", "probe $(hostname)")
    assert (web.health_check.interval_s, web.health_check.start_s) == (5.0, 60.0)


def test_a_service_follows_those_that_it_waits_for(folder: Path):
    every = services(folder, "first.env")
    assert compose.start_order(every) == ["make", "web"]
    assert not every["make"].restarts


def test_a_profile_of_an_env_file_starts_its_services(folder: Path):
    (folder / "gpu.env").write_text("TOKEN=t\nCOMPOSE_PROFILES=gpu\n")
    assert services(folder, "gpu.env")["card"].gpus == ("3",)
    assert set(services(folder, "first.env")) == {"web", "make"}


def test_a_missing_variable_is_named(folder: Path):
    (folder / "empty.env").write_text("")
    with pytest.raises(compose.ComposeRefused, match="TOKEN"):
        services(folder, "empty.env")


@pytest.mark.parametrize("preset", table().presets)
def test_each_service_of_a_preset_is_one_image_with_the_cards_that_it_needs(preset: str, tmp_path: Path):
    profile = "embedded" if preset == "embedded" else "openai"
    planned = plan.make(profile, tmp_path, {"MODEL_PRESET": preset})
    out = io.StringIO()
    report = Report(out)
    checks.images(planned, report)
    made = [json.loads(line) for line in out.getvalue().splitlines()]
    assert {"image.api", "devices.api"} <= {each["name"] for each in made}
    assert [each for each in made if not each["holds"]] == []


@pytest.mark.parametrize("preset", ["embedded", "gpu-24gb"])
def test_pods_of_the_chart_become_services_with_their_secrets(preset: str, tmp_path: Path):
    planned = plan.make("k8s", tmp_path, {"MODEL_PRESET": preset})
    report = Report(io.StringIO())
    checks.images(planned, report)
    assert report.failed == []
    every = {each.name: each for each in planned.services}
    order = list(every)
    assert order.index("provision") < order.index("migrate") < order.index("pooler") < order.index("api")
    given = every["worker-probe"].environment
    assert given["DATABASE_URL"].startswith("postgresql://app_rw:")
    assert given["AVA_SIGNER_KEY"] == every["signer"].environment["AVA_SIGNER_KEY_PROBE"]
    assert (tmp_path / "secrets" / "ava-pooler-tls" / "server.key").read_text().startswith("-----BEGIN")
    assert planned.probes["api"]["readiness"][-1] == "http://ava-api:8001/readyz"
    if preset != "embedded":
        later = every["vllm-text-embedder"]
        assert later.depends_on["vllm-vlm"] == "service_healthy"
        assert later.entrypoint is not None
        assert later.entrypoint[2].startswith("sh -c 'until python")
        assert later.entrypoint[2].endswith('&& exec "$@"')
    assert plan.make("k8s", tmp_path, {"MODEL_PRESET": preset}) == planned


def test_two_files_under_one_tag_do_not_hold(tmp_path: Path):
    planned = plan.make("embedded", tmp_path, {})
    (tmp_path / "compose.yaml").write_text(compose.FILE.read_text().replace("}/cpu-worker:", "}/worker:", 1))
    every = compose.services([plan.preset_file("embedded"), tmp_path / ".env"], file=tmp_path / "compose.yaml")
    out = io.StringIO()
    report = Report(out)
    checks.images(replace(planned, services=tuple(every.values())), report)
    assert "image.worker-index-cpu" in report.failed
    assert any(name.startswith("tag.ava/worker:") for name in report.failed)
