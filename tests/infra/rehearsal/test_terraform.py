"""What the rehearsal reads out of a machine's start script, and of the whole plan where terraform can make one."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_workers.engine.models.model_table import preset
from infra.rehearsal import machines, terraform

SCRIPT = """#!/bin/bash
cat > /etc/ava/settings <<'EOF'
S3_BUCKET=media
MODEL_PRESET=gpu-24gb
EOF
cat > /usr/local/sbin/ava-prepare <<'EOF'
for secret in REDIS_URL MODEL_API_KEY; do
EOF
cat > /etc/systemd/system/ava-worker.service <<'EOF'
[Service]
ExecStartPre=/usr/local/sbin/ava-prepare worker registry/ava:1 AVA_SIGNER_KEY=AVA_SIGNER_KEY_INDEX
ExecStart=/usr/bin/docker run --memory ${AVA_MEMORY} --pids-limit 1024 \\
    --rm --init --name ava-worker --network host --env-file /run/ava/worker \\
    --cap-drop ALL --gpus all --volume ava-cache:/var/cache/ava --read-only --tmpfs /tmp:size=4g \\
    --health-cmd "ava-health 8 probe --now" --env "PORT=8001" --env "MODEL_PRESET=gpu-48gb" \\
    --entrypoint run registry/ava:1 --queues gpu.index --hostname index@%%h
Restart=always
EOF
"""


def test_a_container_has_what_the_start_script_gives_it():
    (worker,) = terraform.machine("index", SCRIPT, {"worker": "gpu-worker"}, objects=False)
    assert (worker.group, worker.name, worker.image) == ("index", "worker", "gpu-worker")
    assert worker.entrypoint == ("run",)
    assert worker.arguments == ("--queues", "gpu.index", "--hostname", "index@%h")
    assert worker.environment == {"S3_BUCKET": "media", "MODEL_PRESET": "gpu-48gb", "PORT": "8001"}
    assert worker.secrets == ("REDIS_URL", "MODEL_API_KEY")
    assert worker.own_secrets == {"AVA_SIGNER_KEY": "AVA_SIGNER_KEY_INDEX"}
    assert worker.health == "ava-health 8 probe --now"
    assert (worker.volumes, worker.tmpfs) == (("/var/cache/ava",), ("/tmp",))
    assert worker.read_only
    assert worker.host_network
    assert worker.gpus


def test_a_node_name_is_found_in_both_ways_of_writing_it():
    assert machines.node_name(("--queues", "system", "--hostname", "system@%h")) == "system@%h"
    assert machines.node_name(("--hostname=webhooks@%h", "--concurrency", "4")) == "webhooks@%h"
    assert machines.node_name(("-n", "a@%h")) == "a@%h"
    assert machines.node_name(("--queues", "system")) == ""


@pytest.mark.long
def test_machines_serve_and_ask_for_every_role_of_a_preset(tmp_path: Path):
    if (reason := terraform.unavailable()) is not None:
        pytest.skip(reason)
    chosen = preset("two-gpus")
    every = terraform.containers(chosen.name, tmp_path)
    servers = {each.name.removeprefix("vllm-"): each for each in every if each.image == "vllm"}
    assert set(servers) == set(chosen.servers)
    ports = {name: each.environment["MODEL_SERVER_PORT"] for name, each in servers.items()}
    assert all(each.gpus and each.arguments[:2] == ("--server", name) for name, each in servers.items())
    (query,) = [each for each in every if each.group == "query"]
    for role, server in chosen.roles.items():
        if role != "checker":
            url = f"http://{terraform.MODEL_HOST}:{ports[server]}/v1"
            assert query.environment[f"{role.upper()}_URL"] == url
    # Celery's node name is the host's unless it is given.
    names = {
        (each.group, *(word for word in each.arguments if "@" in word))
        for each in every
        if each.image.endswith("worker") and each.entrypoint is None
    }
    assert len(names) == sum(each.image.endswith("worker") and each.entrypoint is None for each in every)
    (relay,) = [each for each in every if each.name == "relay"]
    assert relay.health is not None
    assert "workers.health --relay" in relay.health
