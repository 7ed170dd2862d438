"""Make what a Dockerfile makes: the copied files, and a virtual environment by the Dockerfile's own install lines.

An environment is kept in the cache folder under a digest of all that it is made from; a half-made one is made again.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpu_workers.engine.models.weights import cache_dir
from infra.local import bootstrap
from infra.local.errors import ServiceFailed
from infra.rehearsal.dockerfile import Copy, Image, Stage
from infra.rehearsal.sandbox import Bind, Sandbox, account_files

_RECIPE = "2"
_VENV = "/opt/venv"
_NO_CODE = shutil.ignore_patterns("__pycache__", "*.pyc")
# The certificates and the index of this machine's network.
_NETWORK = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
)
_SELDOM = r"/tests?/|/testing/|/transformers/models/|/torch/(_inductor|_dynamo|ao|onnx|distributed)/"
"""Modules whose bytecode is not compiled in advance."""
_UBUNTU_PYTHON = "3.12"
"""Python of Ubuntu 24.04, the base of the images for CUDA."""


class ImageFailed(ServiceFailed):
    """An image cannot be made as its Dockerfile says."""

    code = "image_failed"


@dataclass(frozen=True)
class Built:
    """An image's files, ready to be shown to a container. notes: what differs from a real build, in words."""

    image: Image
    binds: tuple[Bind, ...]
    notes: tuple[str, ...]


def build(image: Image, context: Path, folder: Path, *, environment: Path | None = None) -> Built:
    """Make an image's files under folder. Raises ImageFailed.

    environment: a folder to use as the virtual environment instead of the one that the Dockerfile installs.
    """
    notes = [f"{image.name}: base {image.final.base} is this machine's programs"]
    if environment is not None:
        notes.append(f"{image.name}: the environment is {environment}, for this processor")
    binds = []
    root = folder / image.name
    shutil.rmtree(root, ignore_errors=True)
    for copy in image.final.copies():
        if copy.stage is None:
            binds += _copied(copy, image.workdir, context, root)
        elif copy.stage in image.stages and copy.sources == (_VENV,):
            if environment is None:
                environment, said = install(image, image.stages[copy.stage], context)
                notes += said
            binds.append(Bind(environment, _VENV))
        else:
            notes.append(f"{image.name}: {' '.join(copy.sources)} of {copy.stage} is left out")
    return Built(image, tuple(binds), tuple(notes))


def install(image: Image, stage: Stage, context: Path) -> tuple[Path, list[str]]:
    """Return the virtual environment of a stage, made by its own RUN lines if it is not there, and what differs."""
    lines, notes = _lines(image, stage)
    digest = hashlib.sha256(
        "\n".join([_RECIPE, sys.version, *lines, str(sorted(stage.environment().items()))]).encode()
    )
    for copy in stage.copies():
        if copy.stage is None:
            for path in _sources(copy, context):
                digest.update(path.read_bytes() if path.is_file() else b"")
    folder = cache_dir() / "rehearsal" / f"{image.name}-{digest.hexdigest()[:12]}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").is_file():
            bootstrap.say(f"rehearsal: making the environment of {image.name} in {folder}")
            shutil.rmtree(folder, ignore_errors=True)
            _run(image, stage, context, lines, folder)
            (folder / "complete").touch()
    return folder / "venv", notes


def resolves(image: Image, context: Path) -> str:
    """Return why the packages that an image installs cannot be had for its own Python and platform, "" if they can."""
    (stage,) = {image.stages[copy.stage] for copy in image.final.copies() if copy.sources == (_VENV,) and copy.stage}
    version = re.search(r"python:(3\.\d+)", stage.base)
    python = version[1] if version else _UBUNTU_PYTHON
    for run in stage.runs():
        for command in re.findall(r"uv pip install ([^&;]*)", run):
            words = re.sub(r"--no-cache|--torch-backend[ =]\S+|--python \S+", "", command).split()
            folder = next((copy for copy in stage.copies() if copy.stage is None), None)
            names = {Path(source).name: source for source in (folder.sources if folder else ())}
            words = [str(context / names[word]) if word in names else word for word in words]
            line = [str(bootstrap.VENV / "bin" / "uv"), "pip", "install", "--dry-run", "--quiet", *words]
            line += ["--target", "/nonexistent", "--python-version", python]
            line += ["--python-platform", "x86_64-manylinux_2_34"]
            done = subprocess.run(line, cwd="/", capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return done.stderr.strip()[-800:]
    return ""


def _run(image: Image, stage: Stage, context: Path, lines: Sequence[str], folder: Path) -> None:
    workdir = stage.last("WORKDIR") or "/build"
    (folder / "venv").mkdir(parents=True)
    (folder / "work").mkdir()
    binds = [Bind(folder / "venv", _VENV, writable=True), Bind(folder / "work", workdir, writable=True)]
    for copy in stage.copies():
        if copy.stage is None:
            for path in _sources(copy, context):
                target = folder / "work" / _target(copy, path.name)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copytree(path, target, ignore=_NO_CODE) if path.is_dir() else shutil.copy(path, target)
        elif copy.target.endswith("/uv"):
            binds.append(Bind(bootstrap.VENV / "bin" / "uv", copy.target))
        else:
            raise ImageFailed(f"{image.name}: nothing stands for {' '.join(copy.sources)} of {copy.stage}")
    cache = Path(os.environ.get("UV_CACHE_DIR") or Path.home() / ".cache" / "uv")
    cache.mkdir(parents=True, exist_ok=True)
    binds.append(Bind(cache, "/uv-cache", writable=True))
    links = [Path(link) for link in _find_links() if Path(link).is_dir()]
    binds += [Bind(link, str(link)) for link in links]
    environment = stage.environment() | {name: os.environ[name] for name in _NETWORK if name in os.environ}
    environment |= {"UV_CACHE_DIR": "/uv-cache", "HOME": "/tmp"}  # noqa: S108 - inside the sandbox
    if environment.get("UV_COMPILE_BYTECODE") == "1":
        # Compiling all of torch and transformers takes minutes, and a worker imports a tenth of it.
        environment["UV_COMPILE_BYTECODE"] = "0"
        lines = [*lines, f"/opt/venv/bin/python -m compileall -q -x '{_SELDOM}' /opt/venv/lib || true"]
    if links:
        environment["UV_FIND_LINKS"] = ",".join(map(str, links))
    etc = account_files(folder / "etc", (0, 0), "/root")
    etc |= {name: Path("/etc") / name for name in ("hosts", "resolv.conf")}
    sandbox = Sandbox(f"build-{image.name}", (0, 0), workdir, environment, binds, etc=etc)
    for line in lines:
        done = subprocess.run(
            sandbox.arguments(["/bin/sh", "-e", "-c", line]),
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise ImageFailed(f"{image.path.name}: RUN {line}\n{(done.stdout + done.stderr).strip()[-1500:]}")


def _lines(image: Image, stage: Stage) -> tuple[list[str], list[str]]:
    """Return the stage's install lines as they run here, and what differs, in words."""
    lines, notes = [], []
    for run in stage.runs():
        if not re.search(r"\buv\b", run):
            if "apt-get" not in run:
                notes.append(f"{image.name}: not run: {run}")
            continue
        line = re.sub(r"\s--no-cache\b", "", run)
        if "--python /usr/bin/python3" in line:
            line = line.replace("--python /usr/bin/python3", "--python /usr/local/bin/python3")
            notes.append(f"{image.name}: Python {sys.version.split()[0]} is this machine's")
        without = re.sub(r"\s--torch-backend[ =]\S+", "", line)
        if without != line and _cpu_torch():
            line = without
            notes.append(f"{image.name}: the CPU build of torch comes from {_cpu_torch()}")
        lines.append(line)
    return lines, notes


def _cpu_torch() -> str | None:
    """Return the folder of this machine that holds a CPU build of torch."""
    return next((link for link in _find_links() if any(Path(link).glob("torch-*+cpu-*.whl"))), None)


def _find_links() -> list[str]:
    return bootstrap.find_links(bootstrap.VENV / "bin" / "python")


def _sources(copy: Copy, context: Path) -> list[Path]:
    found = [path for source in copy.sources for path in sorted(context.glob(source.removeprefix("./")))]
    if len(found) < len(copy.sources):
        raise ImageFailed(f"COPY {' '.join(copy.sources)}: not in {context}")
    return found


def _target(copy: Copy, name: str) -> str:
    """Return the target of one copied file or folder, relative to the working folder or absolute."""
    folder = copy.target.endswith("/") or copy.target in {".", "./"} or len(copy.sources) > 1
    return os.path.normpath(f"{copy.target}/{name}" if folder else copy.target)


def _copied(copy: Copy, workdir: str, context: Path, root: Path) -> list[Bind]:
    binds = []
    for path in _sources(copy, context):
        target = os.path.normpath(os.path.join(workdir, _target(copy, path.name)))
        place = root / target.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, place, ignore=_NO_CODE, dirs_exist_ok=True)
        else:
            shutil.copy(path, place)
            place.chmod(0o755)
        binds.append(Bind(place, target))
    return binds
