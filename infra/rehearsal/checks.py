"""Checks that look at the deployment without using it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping

from infra.rehearsal.containers import Container
from infra.rehearsal.plan import Plan
from infra.rehearsal.report import Report

ROLES = ("DESCRIBER", "CHECKER", "REASONER", "TEXT_EMBEDDER", "FRAME_EMBEDDER", "RERANKER", "ENTAILER")
# Runs in a worker's container with its own Python: what each URL answers to the worker's key and to a wrong one.
_ASK = """
import json, os, sys, httpx
seen = {}
for role in sys.argv[1:]:
    url, model = os.environ.get(role + "_URL"), os.environ.get(role + "_MODEL", "")
    key = os.environ.get(role + "_API_KEY") or os.environ.get("MODEL_API_KEY", "")
    if not url:
        continue
    try:
        with httpx.Client(timeout=20, trust_env=False) as http:
            answer = http.get(url + "/models", headers={"Authorization": "Bearer " + key})
            listed = [each["id"] for each in answer.json()["data"]] if answer.status_code == 200 else []
            wrong = http.get(url + "/models", headers={"Authorization": "Bearer wrong"}).status_code
        seen[role] = {"url": url, "model": model, "status": answer.status_code, "listed": listed, "wrong": wrong}
    except (httpx.HTTPError, ValueError, KeyError) as error:
        seen[role] = {"url": url, "model": model, "error": type(error).__name__ + ": " + str(error)}
print(json.dumps(seen))
"""


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


def model_servers(containers: Mapping[str, Container], report: Report) -> None:
    """Check from inside each worker that every model URL leads to a server that lists the model and refuses a wrong key."""
    for name, container in containers.items():
        environment = container.definition.sandbox.environment
        roles = [role for role in ROLES if environment.get(f"{role}_URL")]
        if not roles or name in report.unwell:
            continue
        done = container.execute(["python", "-c", _ASK, *roles], timeout_s=90)
        if done.returncode != 0:
            report.check(f"models.{name}", False, done.stderr.strip()[-500:])
            continue
        for role, seen in json.loads(done.stdout).items():
            where = f"models.{name}.{role.lower()}"
            if "error" in seen:
                report.check(f"{where}.reached", False, f"{seen['url']}: {seen['error']}")
                continue
            report.check(f"{where}.reached", seen["status"] == 200, f"{seen['url']} answers {seen['status']}")
            report.check(
                f"{where}.lists_model", seen["model"] in seen["listed"], f"asked {seen['model']}, listed {seen['listed']}"
            )
            report.check(f"{where}.refuses_wrong_key", seen["wrong"] in {401, 403}, f"a wrong key gets {seen['wrong']}")


def workers_load(containers: Mapping[str, Container], report: Report) -> None:
    """Check that each worker that asks models can make its models in its own image and environment."""
    for name, container in containers.items():
        if name in report.unwell or "--queues" not in container.definition.command:
            continue
        queues = container.definition.command[container.definition.command.index("--queues") + 1].split(",")
        for queue, function in (("gpu.index", "index_models"), ("gpu.query", "answer_models")):
            if queue in queues:
                code = f"import workers.app; from gpu_workers.tasks import models; print(type(models.{function}()).__name__)"
                done = container.execute(["python", "-c", code], timeout_s=300)
                said = done.stdout.strip() if done.returncode == 0 else done.stderr.strip()[-800:]
                report.check(f"models_load.{name}", done.returncode == 0, said)
