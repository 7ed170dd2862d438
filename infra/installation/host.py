"""What a host offers, which preset fits it, and what it lacks for a preset."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpu_workers.engine.models.model_table import ModelTable, Preset

Run = Callable[[Sequence[str]], str]
"""Run a command and return its output, "" if it cannot be run or fails."""

IMAGES_GIB = 40
"""Room for the images: vLLM's and the GPU worker's hold CUDA and torch each."""
LEAST_DRIVER = 580
"""NVIDIA driver of CUDA 13, which torch in the images is built for."""
LEAST_CAPABILITY = 8.0
"""Compute capability of NVIDIA's Ampere cards: the weights are bfloat16, which older cards cannot compute with."""
LEAST_COMPOSE = (2, 24)
"""The first docker compose that knows env_file entries that may be missing."""
SERVICES_GIB = 16.0
"""Memory for the database, the API, the workers and what the models in the workers' processes take."""


@dataclass(frozen=True, slots=True)
class Host:
    """cards: usable memory of each GPU in GiB; capabilities: the compute capability of each, as far as known.

    driver: version of NVIDIA's, "" without one. compose: "" without one. daemon: whether Docker answers. runs_gpus:
    whether it has NVIDIA's runtime.
    """

    cards: tuple[float, ...]
    driver: str
    memory_gib: float
    disk_gib: float
    compose: str
    daemon: bool
    runs_gpus: bool
    capabilities: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a preset needs of the host. detail: what was found, and what to do if it does not hold."""

    name: str
    holds: bool
    detail: str


def run(command: Sequence[str]) -> str:
    """Run a command and return its output, "" if it cannot be run or fails."""
    try:
        done = subprocess.run(list(command), capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def inspect(disk: Path, *, run: Run = run, meminfo: Path = Path("/proc/meminfo")) -> Host:
    """Look at this machine. disk: a folder of the file system that holds Docker's data."""

    def asked(fields: str) -> str:
        return run(["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"])

    rows = [line.split(",") for line in asked("memory.total,driver_version").splitlines() if line.count(",") == 1]
    # Asked for alone: a driver that does not know the field refuses the whole query.
    capabilities = re.findall(r"^\s*(\d+\.\d+)\s*$", asked("compute_cap"), flags=re.M)
    runtimes = run(["docker", "info", "--format", "{{json .Runtimes}}"])
    total = re.search(r"^MemTotal:\s+(\d+) kB", meminfo.read_text(), flags=re.M) if meminfo.exists() else None
    return Host(
        cards=tuple(int(memory) / 1024 for memory, _ in rows if memory.strip().isdigit()),
        driver=rows[0][1].strip() if rows else "",
        memory_gib=int(total[1]) / 1024**2 if total else 0.0,
        disk_gib=shutil.disk_usage(disk).free / 1024**3,
        compose=compose_version(run),
        daemon=bool(runtimes.strip()),
        runs_gpus="nvidia" in runtimes,
        capabilities=tuple(map(float, capabilities)),
    )


def compose_version(run: Run) -> str:
    """Return the version of docker compose, "" without one."""
    return run(["docker", "compose", "version", "--short"]).strip().removeprefix("v")


def compose_check(version: str) -> Check:
    """Check that docker compose is there and new enough."""
    found = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    least = ".".join(map(str, LEAST_COMPOSE))
    return Check(
        "engine", found >= LEAST_COMPOSE, f"docker compose {version or 'is not there'}; {least} or newer is needed"
    )


def fits(preset: Preset, host: Host) -> bool:
    """Whether each card of a preset has a card of the host that is as large. The order of cards is the host's."""
    return len(host.cards) >= len(preset.gpu_gib) and all(
        own >= wanted for own, wanted in zip(host.cards, preset.gpu_gib, strict=False)
    )


def choose(host: Host, table: ModelTable) -> Preset | None:
    """Return the preset that uses most of the host's GPU memory, None if the cards fit no preset."""
    fitting = [preset for preset in table.presets.values() if preset.gpu_gib and fits(preset, host)]
    return max(fitting, key=lambda preset: sum(preset.gpu_gib), default=None)


def weights_gib(preset: Preset, table: ModelTable) -> float:
    """Return the size on disk of the models that a preset serves."""
    return sum(table.models[server.model].weights_gib for server in preset.servers.values())


def taken(ports: Sequence[int]) -> list[int]:
    """Return the ports of this machine at which a program listens already."""
    found = []
    for port in ports:
        with socket.socket() as probe:
            probe.settimeout(2)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                found.append(port)
    return found


def ports_check(ports: Sequence[int]) -> Check:
    """Return whether the ports that an installation publishes are free."""
    busy = ", ".join(map(str, taken(ports)))
    named = ", ".join(map(str, ports))
    return Check("ports", not busy, f"other programs listen at {busy}; end them" if busy else f"{named} are free")


def checks(preset: Preset, host: Host, table: ModelTable) -> list[Check]:
    """Return what the preset needs of the host, in the order in which an operator would mend it."""
    largest = max((table.models[server.model].weights_gib for server in preset.servers.values()), default=0.0)
    memory, disk = SERVICES_GIB + largest, IMAGES_GIB + 1.5 * weights_gib(preset, table)
    found = [
        compose_check(host.compose),
        Check(
            "docker",
            host.daemon,
            "Docker answers" if host.daemon else "Docker does not answer: start it, or join its group",
        ),
        Check("memory", host.memory_gib >= memory, f"{host.memory_gib:.0f} GiB; the preset needs {memory:.0f} GiB"),
        Check(
            "disk", host.disk_gib >= disk, f"{host.disk_gib:.0f} GiB are free; images and weights need {disk:.0f} GiB"
        ),
    ]
    if preset.gpu_gib:
        cards = ", ".join(f"{gib:.0f}" for gib in host.cards) or "no"
        wanted = ", ".join(f"{gib:g}" for gib in preset.gpu_gib)
        driver = int(host.driver.partition(".")[0] or 0) if host.driver[:1].isdigit() else 0
        found += [
            Check("gpus", fits(preset, host), f"{cards} GiB; the preset needs cards of {wanted} GiB"),
            Check(
                "driver",
                driver >= LEAST_DRIVER,
                f"NVIDIA driver {host.driver or 'is not there'}; {LEAST_DRIVER} or newer",
            ),
            Check(
                "capability",
                all(each >= LEAST_CAPABILITY for each in host.capabilities[: len(preset.gpu_gib)]),
                f"compute capability {', '.join(map(str, host.capabilities)) or 'unknown'}; {LEAST_CAPABILITY} or more",
            ),
            Check(
                "runtime",
                host.runs_gpus,
                "containers see the cards"
                if host.runs_gpus
                else "Docker has no runtime nvidia: install the NVIDIA Container Toolkit",
            ),
        ]
    return found
