"""The Helm chart: it starts what the compose file starts, with the same secrets; each object keeps to its schema."""

from __future__ import annotations

import functools
import json
import re
from typing import Any

import helm_python
import kubernetes_validate
import pytest

from gpu_workers.engine.models.model_table import table
from infra.presets.chart import FOLDER, rendered
from infra.presets.environment import profiles, urls
from infra.rehearsal import chart, compose
from infra.rehearsal.chart import Pod, image_of
from infra.release.version import VERSION
from tests.infra.charts import KUBERNETES, objects, of_kind, pods
from tests.infra.test_compose import SECRET, config, required

FILES = ("small-hosted", "one-gpu-node", "several-nodes")
each_file = pytest.mark.parametrize("file", FILES)
OTHERS = {"ScaledObject", "PodMonitor", "ExternalSecret", "Cluster", "ImageCatalog"}
"""Kinds of operators, whose schemas no package here has."""
COMPOSE_NAMES = {
    "worker-index": ("worker-index-cpu", "worker-index-gpu"),
    "worker-query": ("worker-query", "worker-query-cpu"),
}


@functools.cache
def services(file: str) -> dict[str, Any]:
    """Return the services of compose for the preset of a file of values, with a value for each secret that names the
    secret."""
    values = chart.values_of(file)
    preset, one = values["preset"], table().presets[values["preset"]]
    keys = ("MODEL_API_KEY",) if one.servers else ("REASONER_API_KEY", "DESCRIBER_API_KEY")
    models = chart.values_of("small-hosted")["environment"] if preset == "hosted" else {}
    secrets = {name for name in {*required(), *keys} if SECRET.search(name) or name.startswith("AVA_SIGNER_KEY")}
    secrets |= {"AVA_CACHE_SALT_KEY"}
    if one.gpu_gib and not values.get("index", {}).get("gpu"):
        # What an operator sets for an index worker without a card (docs/configuration.md).
        models = {"COMPOSE_PROFILES": ",".join(profiles(one, index_card=False)), **urls(one)}
    given = {**dict.fromkeys(required(), "given"), **models, **{name: f"<{name}>" for name in secrets}}
    result = config(preset, given)
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)["services"]
    return found


def twin(name: str, file: str) -> dict[str, Any]:
    """Return the service of compose that does what a pod does."""
    every = services(file)
    service: dict[str, Any] = next(every[each] for each in COMPOSE_NAMES.get(name, (name,)) if each in every)
    return service


def compared(file: str) -> list[tuple[str, Pod, dict[str, Any]]]:
    return [(name, pod, twin(name, file)) for name, pod in pods(file).items() if not name.endswith("-prefetch")]


@each_file
def test_it_starts_what_compose_starts(file: str):
    every = services(file)
    outside = {"postgres", "valkey", "s3"}
    alike = {next((each for each in COMPOSE_NAMES.get(name, (name,)) if each in every), name) for name in pods(file)}
    assert {name for name in alike if not name.endswith("-prefetch")} == set(every) - outside


@each_file
def test_commands_are_those_of_compose(file: str):
    for name, pod, service in compared(file):
        assert f"ava/{pod.image}" == service["image"].partition(":")[0], name
        image = image_of(pod.image)
        entrypoint = service.get("entrypoint")
        command = service.get("command")
        if command is None:
            command = [] if entrypoint else image.command
        words = (*(image.entrypoint if entrypoint is None else entrypoint), *map(compose.unescape, command))
        assert pod.words == words, name


@each_file
def test_variables_are_those_of_compose(file: str):
    # On one host peers are plain; the pooler verifies the server, and has a certificate; a pod sees its own cards only.
    only_compose = {"AVA_PLAIN_PEERS", "S3_ENDPOINT_URL", "DATABASE_REPLICATION_URL", "DATABASE_METRICS_URL"}
    only_compose |= {"CUDA_VISIBLE_DEVICES"}
    only_chart = {"PGSSLROOTCERT", "POOLER_SERVER_CA", "POOLER_CERTIFICATE", "POOLER_SESSIONS"}
    for name, pod, service in compared(file):
        given = {variable for variable, value in service["environment"].items() if value}
        assert {*pod.environment, *pod.secrets} - only_chart == given - only_compose, name


@each_file
def test_secrets_are_those_of_compose(file: str):
    for name, pod, service in compared(file):
        values = {variable: str(value) for variable, value in service["environment"].items() if value}
        # Standbys and exporters of the database are its operator's.
        outside = {"DATABASE_REPLICATION_URL", "DATABASE_METRICS_URL"}
        secret = {variable for variable, value in values.items() if "<" in value} - outside
        assert set(pod.secrets) == secret, name
        for variable, key in pod.secrets.items():
            if "://" not in values[variable]:
                assert values[variable] == f"<{key}>", (name, variable)


@each_file
def test_requests_and_workers_pass_through_the_pooler(file: str):
    for name, pod, service in compared(file):
        for variable, url in pod.environment.items():
            if variable.startswith("DATABASE_"):
                pooled = "@pooler:" in service["environment"][variable]
                assert ("@ava-pooler:6432/" in url) == pooled, (name, variable)
                assert ":" not in url.removeprefix("postgresql://").partition("@")[0], "a password"


@each_file
def test_health_checks_are_those_of_compose(file: str):
    for name, pod, service in compared(file):
        if "health" in pod.ports or name in {"provision", "migrate", "pooler"}:
            continue
        test = [compose.unescape(word) for word in (service.get("healthcheck") or {}).get("test", [])]
        words = tuple(test[1:]) or image_of(pod.image).health_check.test  # type: ignore[union-attr]
        assert words[:1] == ("ava-health",), name
        assert pod.probes["startup"].command == pod.probes["liveness"].command == words[2:], name
        assert pod.probes["liveness"].failures == int(words[1]), name
        if name.startswith("vllm"):
            assert pod.probes["startup"].failures * pod.probes["startup"].period_s == 90 * 60


@each_file
def test_limits_of_memory_are_those_of_compose(file: str):
    for name, pod, service in compared(file):
        if pod.image != "vllm" and pod.kind == "Deployment":
            limit = pod.limits["memory"]
            number = int(limit.removesuffix("Gi")) * 1024 if limit.endswith("Gi") else int(limit.removesuffix("Mi"))
            assert number * 2**20 == int(service["mem_limit"]), name


@each_file
def test_every_object_keeps_to_the_schema_of_kubernetes(file: str):
    for each in objects(file):
        if each["kind"] not in OTHERS:
            kubernetes_validate.validate(each, KUBERNETES, strict=True)


@each_file
def test_helm_finds_no_fault(file: str):
    report = helm_python.lint(chart.CHART, chart.values_of(file), strict=True)
    assert [each for each in report["messages"] if each["severity"] > 1] == report["errors"] == []


@each_file
def test_every_container_is_confined(file: str):
    for name, spec in chart.templates(objects(file, "own-database")):
        assert spec["automountServiceAccountToken"] is False, name
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        assert spec["securityContext"]["runAsUser"] >= 10_000, name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec), name
        assert not [volume for volume in spec["volumes"] if "hostPath" in volume], name
        for container in (*spec["containers"], *spec.get("initContainers", ())):
            own = container["securityContext"]
            assert own["readOnlyRootFilesystem"] is True, name
            assert own["allowPrivilegeEscalation"] is False, name
            assert own["capabilities"] == {"drop": ["ALL"]}, name
            assert {"cpu", "memory"} <= set(container["resources"]["requests"]), name
            assert "memory" in container["resources"]["limits"], name


@each_file
def test_no_password_is_in_an_object(file: str):
    """The chart has names of secrets only: helm keeps what it has rendered, and arguments are visible to the node."""
    for each in objects(file):
        assert each["kind"] != "Secret"
    for name, pod in pods(file).items():
        assert not [word for word in pod.words if re.search(r"password|secret|://", word, re.IGNORECASE)], name
        plain = {variable for variable in pod.environment if SECRET.search(variable)}
        assert not plain, (name, plain)


@each_file
def test_a_service_leads_to_each_port_that_another_pod_calls(file: str):
    services = of_kind("Service", file)
    ports = {name: {port["port"] for port in each["spec"]["ports"]} for name, each in services.items()}
    for name, pod in pods(file).items():
        for variable, value in pod.environment.items():
            for host, port in re.findall(rf"(?<=[/@])({chart.RELEASE}-[\w-]+):(\d+)", value):
                assert int(port) in ports[host], (name, variable)


def test_the_files_of_the_presets_follow_the_model_table():
    """`make presets` writes them."""
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(table().presets)
    for preset in table().presets.values():
        assert (FOLDER / f"{preset.name}.yaml").read_text() == rendered(preset, table()), preset.name
    schema = json.loads((chart.CHART / "values.schema.json").read_text())
    assert set(schema["properties"]["preset"]["enum"]) == set(table().presets)


@pytest.mark.parametrize("preset", table().presets)
def test_every_preset_can_be_rendered(preset: str):
    found = chart.pods(chart.render({"preset": preset}))
    assert {name for name in found if name.startswith("vllm-") and not name.endswith("-prefetch")} == {
        f"vllm-{name}" for name in table().presets[preset].servers
    }


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"environment": {"AVA_SECRET_KEY": "x"}}, "AVA_SECRET_KEY"),
        ({"environment": {"AVA_EMAIL_URL": "smtp://u:p@h"}}, "AVA_EMAIL_URL"),
        ({"preset": "none"}, "preset"),
        ({"replica": 1}, "replica"),
        ({"preset": "gpu-48gb", "modelServers": {"replicas": 2}}, "ReadWriteMany"),
        ({"cloudnativePg": {"enabled": True}}, "ava-postgres-rw"),
    ],
)
def test_a_wrong_value_is_refused_by_name(values: dict[str, Any], named: str):
    with pytest.raises(helm_python.HelmError, match=named):
        chart.render(values)


def test_an_image_can_be_named_by_its_digest():
    digest = f"sha256:{'0' * 64}"
    rendered = json.dumps(chart.render({"images": {"digests": {"api": digest}}}))
    images = set(re.findall(r'"image": "(ava/(?:api|worker):[^"]+)"', rendered))
    assert images == {f"ava/api:{VERSION}@{digest}", f"ava/worker:{VERSION}"}
