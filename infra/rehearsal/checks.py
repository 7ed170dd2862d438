"""Checks that look at the deployment without using it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from infra.local.errors import ServiceFailed
from infra.rehearsal.compose import replicas
from infra.rehearsal.containers import Container
from infra.rehearsal.plan import Plan
from infra.rehearsal.report import Report

# Runs in a worker's container with its own Python: what each server that it asks answers to its key and to a wrong one.
_ASK = """
import json, httpx
from gpu_workers.engine.models.model_table import ROLES
from gpu_workers.engine.models.settings import ModelSettings
settings, seen = ModelSettings.from_env(), {}
for role in ROLES:
    asked = settings.role(role)
    if not asked.url:
        continue
    found = seen[role] = {"url": asked.url, "model": asked.model}
    try:
        with httpx.Client(timeout=20, trust_env=False) as http:
            answer = http.get(asked.url + "/models", headers={"Authorization": "Bearer " + asked.api_key})
            found["status"], found["listed"] = answer.status_code, []
            if answer.status_code == 200:
                found["listed"] = [each["id"] for each in answer.json()["data"]]
            found["wrong"] = http.get(asked.url + "/models", headers={"Authorization": "Bearer wrong"}).status_code
    except (httpx.HTTPError, ValueError, KeyError) as error:
        found["error"] = type(error).__name__ + ": " + str(error)
print(json.dumps(seen))
"""

_CACHES = ("HOME", "XDG_CACHE_HOME", "HF_HOME", "AVA_CACHE_DIR")
"""Variables that name where libraries write; without the second most of them take ~/.cache, below the first."""


def images(planned: Plan, report: Report) -> None:
    """Check that one tag is one image, and that an image with CUDA gets a GPU and only this."""
    files = defaultdict(set)
    for service in planned.services:
        if service.dockerfile is not None:
            files[service.image].add(service.dockerfile.name)
            expected = service.dockerfile.name.removesuffix(".Dockerfile")
            named = service.image.partition(":")[0].rpartition("/")[2]
            report.check(
                f"image.{service.name}",
                named == expected,
                f"{service.image} is built from {service.dockerfile.name}",
            )
            wants_gpu = expected in {"gpu-worker", "vllm"}
            report.check(
                f"devices.{service.name}",
                bool(service.gpus) == wants_gpu,
                f"{expected} image, GPUs {list(service.gpus) or 'none'}",
            )
    for tag, names in files.items():
        if len(names) > 1:
            report.check(f"tag.{tag}", False, f"built from {' and '.join(sorted(names))}: the last build wins")


def homes(containers: Mapping[str, Container], report: Report) -> None:
    """Check that each container's user can write where its programs keep their caches."""
    for name, container in containers.items():
        if name in report.unwell or container.exit_code() is not None:
            continue
        environment = container.definition.sandbox.environment
        for variable in _CACHES:
            folder = environment.get(variable)
            if folder is None:
                continue
            done = container.execute(["/bin/sh", "-c", 'mkdir -p "$0" && rm "$(mktemp -p "$0")"', folder])
            report.check(f"writes.{name}.{variable}", done.returncode == 0, done.stderr.strip()[-300:] or folder)


def probes(planned: Plan, containers: Mapping[str, Container], report: Report) -> None:
    """Check that each probe of a pod holds once the pod is well."""
    for service in planned.services:
        for name in replicas(service):
            if name in report.unwell or not service.restarts:
                continue
            for kind, words in planned.probes.get(service.name, {}).items():
                done = containers[name].execute(words)
                report.check(f"probe.{name}.{kind}", done.returncode == 0, done.stderr.strip()[-300:] or "holds")


def ask(container: Container) -> dict[str, dict[str, Any]]:
    """Return by role what the model servers of a worker answer, asked from inside. Raises ServiceFailed."""
    done = container.execute(["python", "-c", _ASK], timeout_s=120)
    if done.returncode != 0:
        raise ServiceFailed(f"{container.name}: {done.stderr.strip()[-500:]}")
    answered = json.loads(done.stdout.strip().splitlines()[-1])
    assert isinstance(answered, dict)
    return answered


def model_servers(containers: Mapping[str, Container], report: Report) -> None:
    """Check from each worker that every model URL leads to a server that lists the model and refuses a wrong key."""
    for name, container in containers.items():
        if name in report.unwell or not _queues(container) & {"gpu.index", "gpu.query"}:
            continue
        try:
            answered = ask(container)
        except ServiceFailed as error:
            report.check(f"models.{name}", False, str(error))
            continue
        for role, seen in answered.items():
            where = f"models.{name}.{role}"
            if "error" in seen:
                report.check(f"{where}.reached", False, f"{seen['url']}: {seen['error']}")
                continue
            report.check(f"{where}.reached", seen["status"] == 200, f"{seen['url']} answers {seen['status']}")
            report.check(
                f"{where}.lists_model",
                seen["model"] in seen["listed"],
                f"asked {seen['model']}, listed {seen['listed']}",
            )
            report.check(f"{where}.refuses_wrong_key", seen["wrong"] in {401, 403}, f"a wrong key gets {seen['wrong']}")


def _queues(container: Container) -> set[str]:
    command = container.definition.command
    return set(command[command.index("--queues") + 1].split(",")) if "--queues" in command else set()
