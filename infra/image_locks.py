"""Write the lock of each container image: `make lock-images`.

One lock per image holds every package and hash that its Dockerfile installs. The images of the product follow
requirements.lock, so an image runs what the tests run. The model server's image has versions of its own (vllm.in).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.local import bootstrap

IMAGES = bootstrap.PROJECT / "infra" / "images"
CPU_TORCH = re.compile(r"torch|triton|nvidia-.+|cuda-.+")
"""Packages that cpu-worker.lock leaves out: torch, whose CPU build comes from PyTorch's index, and its CUDA parts."""


@dataclass(frozen=True, slots=True)
class ImageLock:
    """What one image installs.

    source: the file of requirements, relative to the project. python: the interpreter of the image. extras: of source.
    follows: whether requirements.lock and constraints/cpu.txt bind the versions. left_out: packages without an entry.
    """

    python: str
    source: str = "pyproject.toml"
    extras: tuple[str, ...] = ()
    follows: bool = True
    left_out: re.Pattern[str] | None = None


LOCKS: Mapping[str, ImageLock] = {
    "api": ImageLock("3.11"),
    "worker": ImageLock("3.11", extras=("worker",)),
    "cpu-worker": ImageLock("3.11", extras=("ml", "reasoner"), left_out=CPU_TORCH),
    "gpu-worker": ImageLock("3.12", extras=("ml",)),
    "postgres": ImageLock("3.13", source="infra/images/postgres.in", left_out=re.compile("psycopg2")),
    "vllm": ImageLock("3.12", source="infra/images/vllm.in", follows=False),
}


def lock_of(image: str) -> Path:
    """Return the path of an image's lock."""
    return IMAGES / f"{image}.lock"


def command(image: str) -> list[str]:
    """Return the command line that resolves an image's lock, run in the project's folder."""
    lock = LOCKS[image]
    argv = [str(bootstrap.VENV / "bin" / "uv"), "pip", "compile", lock.source]
    argv += [word for extra in lock.extras for word in ("--extra", extra)]
    # The overrides in pyproject.toml belong to the product's environment; vLLM imports torchvision.
    argv += ["-c", "requirements.lock", "-c", "constraints/cpu.txt"] if lock.follows else ["--no-config"]
    argv += ["--python-version", lock.python, "--python-platform", "x86_64-manylinux_2_34", "--generate-hashes"]
    argv += ["--no-emit-index-url", "--no-emit-find-links", "--quiet", "--upgrade"]
    return [*argv, "-o", str(lock_of(image).relative_to(bootstrap.PROJECT))]


def versions(lock: str) -> dict[str, str]:
    """Return the version of each package in the text of a lock."""
    return dict(re.findall(r"^([a-z0-9._-]+)(?:\[[^\]]*\])?==([^ \\\n]+)", lock, flags=re.M))


def write(image: str) -> None:
    """Write an image's lock again. Raises BootstrapFailed if its requirements cannot be met."""
    # Wheels of this machine, such as a CPU build of torch, must not enter the locks.
    env = {name: value for name, value in os.environ.items() if name != "UV_FIND_LINKS"}
    if subprocess.run(command(image), cwd=bootstrap.PROJECT, env=env, check=False).returncode != 0:
        raise bootstrap.BootstrapFailed(f"the lock of image {image} could not be made")
    left_out, path = LOCKS[image].left_out, lock_of(image)
    if left_out is None:
        return
    text = path.read_text()
    for package in versions(text):
        if left_out.fullmatch(package):
            text = bootstrap.without(text, package)
    path.write_text(text)


def main() -> int:
    """Write the locks of the images that the command line names, or of all images."""
    unknown = set(sys.argv[1:]) - set(LOCKS)
    if unknown:
        bootstrap.say(f"ERROR no image {', '.join(sorted(unknown))}; known: {', '.join(LOCKS)}")
        return 1
    try:
        for image in sys.argv[1:] or LOCKS:
            write(image)
    except bootstrap.BootstrapFailed as error:
        bootstrap.say(f"ERROR {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
