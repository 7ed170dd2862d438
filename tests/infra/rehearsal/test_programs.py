"""The program of each service of a preset starts from its image's files and its own environment.

The packages are this environment's; `make rehearse` installs each image's own.
"""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from infra.local import bootstrap
from infra.local.errors import NotInstalled
from infra.rehearsal import images, plan, sandbox
from infra.rehearsal.compose import Service
from infra.rehearsal.containers import Definition
from infra.rehearsal.deployment import Deployment
from infra.rehearsal.dockerfile import read

PRESETS = ("embedded", "gpu-80gb")
"""Together these two have every service."""


class Addresses:
    """Stands for the network of a rehearsal where nothing connects."""

    def address(self, name: str) -> str:
        return "10.88.0.10"


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> dict[str, plan.Plan]:
    try:
        sandbox.bubblewrap()
    except NotInstalled as error:
        pytest.skip(str(error))
    probe = [sandbox.bubblewrap(), "--ro-bind", "/", "/", "--unshare-user", "true"]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        pytest.skip("user namespaces are refused on this machine")
    folder = tmp_path_factory.mktemp("programs")
    return {
        preset: plan.make("embedded" if preset == "embedded" else "openai", folder / preset, {"MODEL_PRESET": preset})
        for preset in PRESETS
    }


def definitions(planned: plan.Plan) -> list[tuple[Service, Definition]]:
    """Return each service with our code, and its container with this environment's packages."""
    environment = bootstrap.VENV.resolve()
    ours = [each for each in planned.services if each.dockerfile and each.dockerfile.name != "postgres.Dockerfile"]
    built = {
        path: images.build(read(path), context, planned.folder / "images", environment=environment)
        for path, context in {
            each.dockerfile: each.context for each in ours if each.dockerfile and each.context
        }.items()
    }
    # Without the command's server the model's stand-in is left out: it is not made here.
    deployment = Deployment(planned, built, Addresses(), {}, {})  # type: ignore[arg-type]
    found = []
    for service in ours:
        words, bare = service.command, replace(service, replicas=1)
        if "vllm" in service.image:
            bare = replace(bare, command=())
        (made,) = deployment.definitions(bare)
        found.append((service, replace(made, command=(*made.command, *(words or ()))) if bare.command == () else made))
    return found


def dry(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the command line that loads a program and reads its arguments but connects to nothing; None for others."""
    # The scripts of this environment name its own path, which no container has.
    whole = ("python", "-m", *command) if command[0] in {"gunicorn", "celery"} else command
    if "vllm_server" in " ".join(command):
        return (*whole, "--print")
    if command[0] == "gunicorn":
        return (*whole, "--check-config")
    if command[0] == "celery" or command[1:2] == ("manage.py",):
        return (*whole, "--help")
    return None


def run(definition: Definition, command: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        definition.sandbox.arguments(command),
        env=dict(definition.sandbox.environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_every_program_reads_its_arguments(planned: dict[str, plan.Plan], preset: str):
    started = {}
    for service, definition in definitions(planned[preset]):
        command = dry(definition.command)
        assert command is not None, f"{service.name}: {definition.command}"
        done = run(definition, command)
        assert done.returncode == 0, f"{service.name}: {(done.stdout + done.stderr)[-800:]}"
        started[service.name] = done.stdout
    assert {"api", "migrate", "provision", "relay", "worker-system", "worker-webhooks"} <= set(started)
    servers = {name: output for name, output in started.items() if name.startswith("vllm-")}
    assert bool(servers) == (preset != "embedded")
    for output in servers.values():
        words = shlex.split(output)
        assert words[words.index("--host") + 1] == "0.0.0.0"
        assert words[words.index("--port") + 1] == "8000"


@pytest.mark.parametrize("preset", PRESETS)
def test_each_container_holds_what_its_dockerfile_copies_and_no_more(planned: dict[str, plan.Plan], preset: str):
    for service, definition in definitions(planned[preset]):
        assert service.dockerfile is not None
        copied = {
            Path(source).name
            for copy in read(service.dockerfile).final.copies()
            for source in copy.sources
            if copy.stage is None and not copy.target.startswith("/")
        }
        seen = run(definition, ("ls", "/app"))
        assert set(seen.stdout.split()) == copied, service.name
        assert run(definition, ("ls", str(bootstrap.PROJECT))).returncode != 0
        assert run(definition, ("touch", "/app/x")).returncode != 0


def test_the_workers_load_in_every_image_that_runs_them(planned: dict[str, plan.Plan]):
    loaded = set()
    for preset in PRESETS:
        for service, definition in definitions(planned[preset]):
            if definition.command[0] == "celery":
                done = run(definition, ("python", "-c", "import workers.app, workers.tasks, workers.health"))
                assert done.returncode == 0, f"{service.name}: {done.stderr[-800:]}"
                loaded.add(service.image.partition(":")[0])
    assert loaded == {"ava/worker", "ava/cpu-worker", "ava/gpu-worker"}
