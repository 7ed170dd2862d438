"""The pods of the Helm chart as services of a rehearsal: profile k8s.

PostgreSQL, the broker and object storage are "elsewhere" for the chart; here they are those of compose.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from infra.helm import secret_manifests
from infra.rehearsal import chart
from infra.rehearsal.chart import RELEASE, Pod, PodProbe
from infra.rehearsal.compose import PROJECT, Mount, Port, Service
from infra.rehearsal.dockerfile import HealthCheck

ELSEWHERE = ("postgres", "valkey", "s3")
"""Services of compose that stand for what the cluster's operator has."""
_CACHE = "model-cache"
_WAIT = re.compile(rf"{RELEASE}-(vllm-[\w-]+):")
_ASK = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)"
_CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)"


def pods_of(preset: str, variables: Mapping[str, str], own: Mapping[str, str]) -> dict[str, Pod]:
    """Return the pods of a preset. own: the operator's settings without secrets."""
    return chart.pods(chart.render(values(preset, variables, own)))


def values(preset: str, variables: Mapping[str, str], own: Mapping[str, str]) -> dict[str, Any]:
    """Return the operator's values. own: settings without secrets, which win over those of the preset."""
    settings = {
        # Here is no TLS, and nothing leaves the machine.
        "AVA_PLAIN_PEERS": f"postgres,{RELEASE}-pooler,valkey,s3.localhost",
        "PGSSLMODE": "disable",
        **own,
    }
    one = {"processes": {name: {"replicas": 1} for name in ("api", "console")}}
    return {
        "preset": preset,
        "publicUrl": variables["AVA_PUBLIC_URL"],
        "allowedHosts": ["localhost", "127.0.0.1"],
        "environment": settings,
        "database": {"host": "postgres"},
        "storage": {"endpoint": "http://s3.localhost:8333"},
        "cacheClaim": _CACHE,
        "modelServers": {"prefetch": False},
        **one,
    }


def secrets(folder: Path, variables: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the Secrets that infra.helm makes for the services of compose, the same for the folder at each call."""
    file = folder / "kubernetes-secrets.json"
    if not file.exists():
        environ = {
            "DATABASE_SUPERUSER_URL": f"postgresql://postgres:{variables['POSTGRES_PASSWORD']}@postgres:5432/postgres",
            "REDIS_URL": f"redis://:{variables['VALKEY_PASSWORD']}@valkey:6379/0",
            "REASONER_API_KEY": variables["MODEL_API_KEY"],
            "DESCRIBER_API_KEY": variables["MODEL_API_KEY"],
            **{name: variables[name] for name in ("S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY")},
        }
        made = secret_manifests.every(environ, release=RELEASE, database="ava", ca="", own_database=False)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump({each["metadata"]["name"]: each["stringData"] for each in made}, out)
    found: dict[str, dict[str, str]] = json.loads(file.read_text())
    return found


def services(
    pods: Mapping[str, Pod], variables: Mapping[str, str], compose: Mapping[str, Service], folder: Path
) -> dict[str, Service]:
    """Return the pods as services, in front of them those of compose that stand for what is elsewhere."""
    stored = secrets(folder, variables)
    outside = {name: replace(compose[name], depends_on={}) for name in ELSEWHERE}
    order = sorted(pods.values(), key=lambda pod: (pod.weight is None, pod.weight or 0, pod.name))
    return outside | {pod.name: _service(pod, stored, folder) for pod in order}


def probes(pods: Mapping[str, Pod]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the commands that ask what the kubelet asks of each pod, by the probe's name."""
    return {name: {kind: words_of(name, probe) for kind, probe in pod.probes.items()} for name, pod in pods.items()}


def _service(pod: Pod, stored: Mapping[str, Mapping[str, str]], folder: Path) -> Service:
    entrypoint, words = _command(pod)
    return Service(
        name=pod.name,
        image=f"ava/{pod.image}:{RELEASE}",
        context=PROJECT,
        dockerfile=PROJECT / "infra" / "images" / f"{pod.image}.Dockerfile",
        entrypoint=entrypoint,
        command=words,
        environment={**pod.environment, **{name: stored[RELEASE][key] for name, key in pod.secrets.items()}},
        mounts=tuple(_mounts(pod, stored, folder)),
        tmpfs=tuple(mount.target for mount in pod.mounts if mount.kind in {"memory", "empty"}),
        # The way of the ingress controller.
        ports=(Port("127.0.0.1", urlsplit(pod.environment["AVA_PUBLIC_URL"]).port or 80, 8000),)
        if pod.name == "api"
        else (),
        aliases=(f"{RELEASE}-{pod.name}",),
        read_only=pod.read_only,
        user=":".join(map(str, pod.user)),
        health_check=_health_check(pod),
        depends_on=_after(pod),
        restarts=pod.kind == "Deployment",
        gpus=("all",) if any("gpu" in name for name in pod.limits) else (),
        replicas=pod.replicas,
        grace_s=pod.grace_s,
    )


def _command(pod: Pod) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Return entry point and command. What an init container waits for is waited for in front of them."""
    own = chart.image_of(pod.image).entrypoint
    keeps = bool(own) and pod.words[: len(own)] == own
    entrypoint, words = (own, pod.words[len(own) :]) if keeps else ((), pod.words)
    scripts = [shlex.join(command) for command in pod.waits]
    if scripts:
        return ("/bin/sh", "-c", f'{" && ".join(scripts)} && exec "$@"', "sh", *entrypoint), words
    return (entrypoint, words) if entrypoint else (None, words) if not own else (words, ())


def _mounts(pod: Pod, stored: Mapping[str, Mapping[str, str]], folder: Path) -> list[Mount]:
    found = []
    for mount in pod.mounts:
        if mount.kind == "claim":
            found.append(Mount(mount.source, mount.target, named=True, read_only=False))
        elif mount.kind == "secret":
            place = folder / "secrets" / mount.source
            place.mkdir(parents=True, exist_ok=True)
            for key, name in mount.files.items():
                (place / name).write_text(stored[mount.source][key])
            found.append(Mount(str(place), mount.target, named=False, read_only=True))
    return found


def _after(pod: Pod) -> dict[str, str]:
    """Return what must have happened: hooks run before the rest, and init containers wait for a server."""
    if pod.name == "provision":
        return {"postgres": "service_healthy"}
    if pod.name == "migrate":
        return {"provision": "service_completed_successfully"}
    if pod.name == "pooler":
        return {"migrate": "service_completed_successfully"}
    waits = {name: "service_healthy" for words in pod.waits for name in _WAIT.findall(" ".join(words))}
    # Here a pod is started when all before it are well; a cluster starts them at once, and they wait for each other.
    well = dict.fromkeys(("pooler", "valkey", "s3"), "service_healthy")
    return {"migrate": "service_completed_successfully", **well, **waits}


def _health_check(pod: Pod) -> HealthCheck | None:
    """Return the probe that says that a pod is well: its start probe if it asks inside, else the readiness probe."""
    start, ready = pod.probes.get("startup"), pod.probes.get("readiness")
    chosen = start if start and start.command else ready
    if chosen is None:
        return None
    longest = start or chosen
    return HealthCheck(
        words_of(pod.name, chosen), chosen.period_s, chosen.timeout_s, longest.period_s * longest.failures
    )


def words_of(name: str, probe: PodProbe) -> tuple[str, ...]:
    """Return a command that does what a probe does. The kubelet asks the address of the pod, not its loopback."""
    if probe.command:
        return probe.command
    if probe.path:
        return ("python", "-c", _ASK, f"http://{RELEASE}-{name}:{probe.port}{probe.path}")
    return ("python3", "-c", _CONNECT, f"{RELEASE}-{name}", str(probe.port))
