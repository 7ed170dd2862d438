"""The Helm chart's other objects: scaling, monitoring, hooks, networks, a database of its own, the Secrets."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from promql_parser import parse

from gpu_workers.engine.models.model_table import table
from infra.observability.promtool import NoPromtool, ensure_promtool
from infra.rehearsal import chart
from infra.rehearsal.chart import image_of
from infra.release.version import VERSION
from tests.infra.charts import KUBERNETES, of_kind, pods
from tests.infra.conftest import ROOT


def test_servers_of_one_card_load_one_after_the_other():
    for file in ("one-gpu-node", "several-nodes"):
        values = chart.values_of(file)
        every, preset = pods(file), table().presets[values["preset"]]
        index_card = values.get("index", {}).get("gpu", False)
        preset = preset.with_index_card() if index_card else preset
        shared = [name for name, server in preset.servers.items() if 0 in server.gpus]
        sharing = [*(f"vllm-{name}" for name in shared[1:]), *(["worker-index"] if index_card else [])]
        for earlier, later in zip(shared, sharing, strict=False):
            pod = every[later]
            ((_, _, script),) = pod.waits
            assert f"http://ava-vllm-{earlier}:8000/health" in script
            assert pod.limits["nvidia.com/gpu.shared"] == 1
        for name, server in preset.servers.items():
            if name not in shared:
                assert every[f"vllm-{name}"].limits["nvidia.com/gpu"] == len(server.gpus)
                assert not every[f"vllm-{name}"].waits
        running = {name for name in every if name.startswith("vllm-") and not name.endswith("-prefetch")}
        assert running == {f"vllm-{name}" for name in preset.servers}
        if not index_card:
            assert not every["worker-index"].waits
            assert "nvidia.com/gpu.shared" not in every["worker-index"].limits


def test_workers_follow_the_age_of_their_queue():
    """KEDA's schema is not here: these are the fields that its documentation demands."""
    scaled = of_kind("ScaledObject", "several-nodes")
    every = {**of_kind("Deployment", "several-nodes")}
    for name, each in scaled.items():
        assert each["apiVersion"] == "keda.sh/v1alpha1"
        spec = each["spec"]
        assert "replicas" not in every[spec["scaleTargetRef"]["name"]]["spec"], "helm would set it back"
        assert 0 <= spec["minReplicaCount"] <= spec["maxReplicaCount"]
        (trigger,) = spec["triggers"]
        assert trigger["type"] == "prometheus"
        assert {"serverAddress", "query", "threshold"} <= set(trigger["metadata"])
        assert all(isinstance(value, str) for value in trigger["metadata"].values()), name
        parse(trigger["metadata"]["query"])
    queues = {name: pods("several-nodes")[name.removeprefix("ava-")].words for name in scaled if "-worker-" in name}
    for name, words in queues.items():
        queue = words[words.index("--queues") + 1]
        assert (
            f'ava_queue_oldest_seconds{{queue="{queue}"}}' in scaled[name]["spec"]["triggers"][0]["metadata"]["query"]
        )
    assert 'vllm:num_requests_waiting{service="vllm-vlm"}' in str(scaled["ava-worker-index"])
    assert set(scaled) > {f"ava-vllm-{server}" for server in table().presets["four-gpus"].servers}


@pytest.mark.parametrize(("waiting", "counted"), [("4", 600), ("5", 60), ("_", 600)])
def test_index_workers_stay_as_many_while_requests_wait(waiting: str, counted: int, tmp_path: Path):
    """KEDA multiplies the number of workers by the query over the threshold, 60; 60 keeps the number."""
    try:
        promtool = ensure_promtool()
    except NoPromtool as error:
        pytest.skip(str(error))
    query = of_kind("ScaledObject", "several-nodes")["ava-worker-index"]["spec"]["triggers"][0]["metadata"]["query"]
    series = [
        {"series": 'ava_queue_oldest_seconds{queue="gpu.index", service="relay"}', "values": "600"},
        {"series": 'vllm:num_requests_waiting{service="vllm-vlm"}', "values": waiting},
    ]
    expected = {"expr": query, "eval_time": "0m", "exp_samples": [{"labels": "{}", "value": counted}]}
    file = tmp_path / "tests.yml"
    file.write_text(yaml.safe_dump({"tests": [{"input_series": series, "promql_expr_test": [expected]}]}))
    done = subprocess.run([promtool, "test", "rules", str(file)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_api_follows_its_processors_where_that_is_wanted():
    deployment = of_kind("Deployment", "several-nodes")["ava-api"]
    scaler = of_kind("HorizontalPodAutoscaler", "several-nodes")["ava-api"]["spec"]
    assert (scaler["minReplicas"], scaler["maxReplicas"]) == (4, 12)
    assert scaler["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    assert "replicas" not in deployment["spec"], "an upgrade would set the number back"
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["requests"]["cpu"], "a share of nothing has no value"
    assert "ava-api" in of_kind("PodDisruptionBudget", "several-nodes")
    assert of_kind("HorizontalPodAutoscaler", "small-hosted") == {}
    assert of_kind("Deployment", "small-hosted")["ava-api"]["spec"]["replicas"] >= 1


def test_monitors_name_ports_and_the_label_of_the_alert_rules():
    """The schema of PodMonitor is not here: these are the fields that its documentation demands."""
    for each in of_kind("PodMonitor", "several-nodes").values():
        assert each["apiVersion"] == "monitoring.coreos.com/v1"
        assert each["spec"]["selector"]["matchLabels"]["app.kubernetes.io/instance"] == "ava"
        (endpoint,) = each["spec"]["podMetricsEndpoints"]
        assert {"port", "path", "relabelings"} <= set(endpoint)
        assert endpoint["relabelings"][0]["targetLabel"] == "service"


def test_an_external_secret_has_every_key_that_a_pod_reads():
    (each,) = of_kind("ExternalSecret", "several-nodes").values()
    keys = {entry["secretKey"] for entry in each["spec"]["data"]}
    assert keys == {key for pod in pods("several-nodes").values() for key in pod.secrets.values()}
    assert each["spec"]["secretStoreRef"]["name"] == "vault"


def test_hooks_run_when_what_they_need_is_there():
    before, after = "pre-install,pre-upgrade", "post-install,pre-upgrade"
    own = ("small-hosted", "own-database")
    for files, expected in ((("small-hosted",), before), (("several-nodes",), after), (own, after)):
        jobs = of_kind("Job", *files)
        hooks = {jobs[f"ava-{name}"]["metadata"]["annotations"]["helm.sh/hook"] for name in ("provision", "migrate")}
        assert hooks == {expected}
    order = [pods("small-hosted")[name].weight for name in ("provision", "migrate")]
    assert order == [0, 1]


def test_the_database_of_the_cluster_has_the_image_and_preloads_the_graph():
    (cluster,) = of_kind("Cluster", "small-hosted", "own-database").values()
    (catalogue,) = of_kind("ImageCatalog", "small-hosted", "own-database").values()
    assert cluster["spec"]["imageCatalogRef"]["name"] == catalogue["metadata"]["name"]
    assert catalogue["spec"]["images"] == [{"major": 18, "image": f"ava/postgres:{VERSION}"}]
    assert cluster["spec"]["postgresql"]["shared_preload_libraries"] == ["age"]
    user = image_of("postgres").user.partition(":")[0]
    assert cluster["spec"]["postgresUID"] == int(user)
    files = ("small-hosted", "own-database")
    sessions = yaml.safe_load((chart.CHART / "values.yaml").read_text())["pooler"]
    allowed = int(cluster["spec"]["postgresql"]["parameters"]["max_connections"])
    assert sessions["replicas"] * sessions["sessions"] + 50 <= allowed
    assert {pod.environment["DATABASE_LISTEN_URL"] for name, pod in pods(*files).items() if name == "api"} == {
        "postgresql://app_rw@ava-postgres-rw:5432/ava"
    }


FLOWS = re.compile(r'"[^"]+"\s*=\s*\{ from = "(\w+)", to = "(\w+)", first = (\d+), last = (\d+) \}')
ALIKE = {"setup": "database", "prefetch": "model", "signer": "worker", "pooler": "database"}
"""The machine of terraform on which a group of pods would run."""


def test_pods_talk_as_the_machines_of_aws_do():
    """Each flow between pods is one of terraform's, and terraform's flows have a policy."""
    text = (ROOT / "terraform" / "modules" / "network" / "variables.tf").read_text()
    flows = {(source, target) for source, target, _, _ in FLOWS.findall(text)}
    allowed = set()
    for name, policy in of_kind("NetworkPolicy", "several-nodes").items():
        assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"], name
        group = policy["spec"]["podSelector"]["matchLabels"]["ava/group"]
        for rule in policy["spec"]["egress"]:
            for peer in rule["to"]:
                target = peer.get("podSelector", {}).get("matchLabels", {}).get("ava/group")
                if target:
                    allowed.add((group, target))
                if "ipBlock" in peer and {"port": 443, "protocol": "TCP"} in rule["ports"]:
                    assert peer["ipBlock"]["except"] == ["169.254.0.0/16"], "the node's metadata"
    # A balancer stands between the machines of AWS, and a Service here. The monitor comes by its namespace.
    to_signer = ("worker", "signer")
    machines = {(ALIKE.get(source, source), ALIKE.get(target, target)) for source, target in allowed - {to_signer}}
    assert machines <= flows
    between = {to_signer, ("api", "database"), ("worker", "database"), ("worker", "model"), ("model", "model")}
    assert flows & between == (machines | {to_signer}) & between
    policies = of_kind("NetworkPolicy", "several-nodes").values()
    started = (*of_kind("Deployment", "several-nodes").values(), *of_kind("Job", "several-nodes").values())
    groups = {each["spec"]["template"]["metadata"]["labels"]["ava/group"] for each in started}
    assert groups == {each["spec"]["podSelector"]["matchLabels"]["ava/group"] for each in policies}


GIVEN = {
    "REDIS_URL": "rediss://:p@broker.example.com:6379/0?ssl_cert_reqs=required",
    "DATABASE_SUPERUSER_URL": "postgresql://admin:p@db.example.com:5432/postgres",
    **dict.fromkeys(("S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY", "REASONER_API_KEY", "DESCRIBER_API_KEY"), "given"),
}


@pytest.mark.parametrize("files", [("small-hosted",), ("one-gpu-node", "own-database")], ids=" ".join)
def test_the_secrets_that_are_made_are_those_that_pods_read(files: tuple[str, ...], tmp_path: Path):
    own = "own-database" in files
    done = subprocess.run(
        [sys.executable, "-m", "infra.helm", *(["--own-database"] if own else [])],
        env={"PATH": os.environ["PATH"], **GIVEN},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    made = {each["metadata"]["name"]: each for each in json.loads(done.stdout)["items"]}
    for each in made.values():
        kubernetes_validate.validate(each, KUBERNETES, strict=True)
    for name, pod in pods(*files).items():
        assert set(pod.secrets.values()) <= set(made["ava"]["stringData"]), name
        for mount in pod.mounts:
            if mount.kind == "secret":
                assert set(mount.files) <= set(made[mount.source]["stringData"]), name
    servers = {"ava-pooler-tls": "ava-pooler"} | ({"ava-postgres-tls": "ava-postgres-rw"} if own else {})
    for name, host in servers.items():
        for file, text in {**made["ava-database-ca"]["stringData"], **made[name]["stringData"]}.items():
            (tmp_path / file).write_text(text)
        verify = ["openssl", "verify", "-CAfile", "ca.crt", "-verify_hostname", host, "tls.crt"]
        subprocess.run(verify, cwd=tmp_path, check=True, capture_output=True)


def test_what_others_made_is_asked_for_by_name():
    done = subprocess.run(
        [sys.executable, "-m", "infra.helm"],
        env={"PATH": os.environ["PATH"]},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "set REDIS_URL, DATABASE_SUPERUSER_URL in the environment" in done.stderr
