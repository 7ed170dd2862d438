"""The program of each service of a preset starts from its image's files and its own environment.

The packages are this environment's; `make rehearse` installs each image's own.
"""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_workers.engine.models.model_table import preset
from infra.local import bootstrap
from infra.local.errors import NotInstalled
from infra.rehearsal import images, plan, sandbox
from infra.rehearsal.compose import Service
from infra.rehearsal.containers import Definition
from infra.rehearsal.deployment import Deployment
from infra.rehearsal.dockerfile import read

PRESETS = {"embedded": "embedded", "gpu-80gb": "openai"}
"""Together these two have every service."""


class Addresses:
    """Stands for the network of a rehearsal where nothing connects."""

    def address(self, name: str) -> str:
        return "10.88.0.10"


@pytest.fixture(scope="module")
def definitions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Service, Definition]]:
    """Return all services of PRESETS by name, with their containers."""
    try:
        probe = [sandbox.bubblewrap(), "--ro-bind", "/", "/", "--unshare-user", "true"]
    except NotInstalled as error:
        pytest.skip(str(error))
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        pytest.skip("user namespaces are refused on this machine")
    found: dict[str, tuple[Service, Definition]] = {}
    for name, profile in PRESETS.items():
        planned = plan.make(profile, tmp_path_factory.mktemp(name), {"MODEL_PRESET": name})
        found |= {service.name: (service, one) for service, one in made(planned)}
    return found


def made(planned: plan.Plan) -> list[tuple[Service, Definition]]:
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
        (one,) = deployment.definitions(bare)
        found.append((service, replace(one, command=(*one.command, *(words or ()))) if bare.command == () else one))
    return found


def dry(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the command line that loads a program and reads its arguments but connects to nothing; None for others."""
    if command[1:3] == ("manage.py", "guarded"):
        command = command[3:]
    # The scripts of this environment name its own path, which no container has.
    whole = ("python", "-m", *command) if command[0] in {"uvicorn", "celery"} else command
    if "vllm_server" in " ".join(command):
        return (*whole, "--print")
    if command[0] in {"uvicorn", "celery"} or "manage.py" in command[1:2] or "llama_server" in " ".join(command):
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


@pytest.mark.long
def test_every_program_reads_its_arguments(definitions: dict[str, tuple[Service, Definition]]):
    servers = {}
    for name, (_, definition) in definitions.items():
        command = dry(definition.command)
        assert command is not None, f"{name}: {definition.command}"
        done = run(definition, command)
        assert done.returncode == 0, f"{name}: {(done.stdout + done.stderr)[-800:]}"
        if name.startswith("vllm-"):
            servers[name] = shlex.split(done.stdout)
    workers = {
        "worker-probe",
        "worker-render",
        "worker-fetch",
        "worker-delete",
        "worker-sweep",
        "worker-index-cpu",
        "worker-index-gpu",
        "worker-query",
        "worker-query-cpu",
    }
    others = {"api", "console", "migrate", "provision", "reasoner", "relay", "signer", "webhooks"}
    assert {*others, *workers} == set(definitions) - set(servers)
    assert {f"vllm-{server}" for server in preset("gpu-80gb").with_index_card().servers} == set(servers)
    for name, words in servers.items():
        assert words[words.index("--host") + 1] == "0.0.0.0", name
        assert words[words.index("--port") + 1] == "8000", name


def test_the_api_loads_in_its_image(definitions: dict[str, tuple[Service, Definition]]):
    _, definition = definitions["api"]
    done = run(definition, ("python", "-c", "import backend.asgi"))
    assert done.returncode == 0, done.stderr[-800:]


def test_each_container_holds_what_its_dockerfile_copies_and_no_more(
    definitions: dict[str, tuple[Service, Definition]],
):
    for name, (service, definition) in definitions.items():
        assert service.dockerfile is not None
        copied = {
            Path(copy.target).parts[0] if Path(copy.target).parts else Path(source).name
            for copy in read(service.dockerfile).final.copies()
            for source in copy.sources
            if copy.stage is None and not copy.target.startswith("/")
        }
        look = f"ls /app; ls {bootstrap.PROJECT} || echo no-checkout; touch /x || echo no-write"
        assert set(run(definition, ("sh", "-c", look)).stdout.split()) == copied | {"no-checkout", "no-write"}, name


KERNELS = ("flashinfer-python", "apache-tvm-ffi", "nvidia-ml-py")
"""What vLLM's sampler imports on CUDA, 33 MB. Triton, which also keeps its kernels below HOME, has 690 MB on disk."""


@pytest.mark.long
def test_flashinfer_finds_a_home_in_the_image_of_the_model_servers(
    definitions: dict[str, tuple[Service, Definition]], tmp_path: Path
):
    """FlashInfer makes a folder below HOME when it is imported, and nothing catches a refusal."""
    lock = (bootstrap.PROJECT / "infra" / "images" / "vllm.lock").read_text()
    wanted = [next(line.split()[0] for line in lock.splitlines() if line.startswith(f"{name}==")) for name in KERNELS]
    uv = [str(bootstrap.VENV / "bin" / "uv"), "pip", "install", "--quiet", "--no-config", "--no-deps"]
    subprocess.run([*uv, "--target", str(tmp_path), *wanted], check=True, timeout=300)
    _, definition = definitions["vllm-vlm"]
    box = definition.sandbox
    assert box.user == (10001, 10001)

    def imported(**changed: str) -> subprocess.CompletedProcess[str]:
        environment = {**box.environment, "PYTHONPATH": "/opt/kernels", **changed}
        with_kernels = replace(box, binds=[*box.binds, sandbox.Bind(tmp_path, "/opt/kernels")], environment=environment)
        return run(replace(definition, sandbox=with_kernels), ("python", "-c", "import flashinfer"))

    done = imported()
    assert done.returncode == 0, done.stderr[-800:]
    refused = imported(HOME="/app")
    assert refused.returncode != 0
    assert "/app/.cache" in refused.stderr
