"""Create or repair the project's environment in .venv. Standard library only: it runs before anything is installed.

The environment is ready when the stamp in .venv holds the hash of the lock, the constraints and this file's recipe.
Everything is safe to repeat: a half-made environment is finished, or made again if it cannot run.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from infra.local.heartbeat import Heartbeat

PROJECT = Path(__file__).resolve().parents[2]
VENV = PROJECT / ".venv"
LOCK = PROJECT / "requirements.lock"
CONSTRAINTS = PROJECT / "constraints" / "cpu.txt"
UV = "uv==0.13.9"
# PyTorch's own index has the CPU build for machines whose package index offers only the CUDA build.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
_RECIPE = "1"
# The older and the newer name of the same switch.
_SYSTEM_CERTIFICATES = {"UV_NATIVE_TLS": "1", "UV_SYSTEM_CERTS": "1"}
_PYTHONS = ((3, 11), (3, 12))


class BootstrapFailed(Exception):
    """The environment could not be made; the message names the step that failed."""


def fingerprint() -> str:
    """Return the hash of everything that the environment must be made from."""
    digest = hashlib.sha256(f"{_RECIPE} {UV} {sys.version_info[:2]}".encode())
    for path in (LOCK, CONSTRAINTS):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_ready(stamp: str) -> bool:
    """Whether .venv was completed with this stamp and its interpreter still runs (its base may be gone)."""
    try:
        if (VENV / "ava-stamp").read_text() != stamp:
            return False
    except OSError:
        return False
    return runs(VENV / "bin" / "python")


def ensure() -> None:
    """Bring .venv up to date. Raises BootstrapFailed."""
    if sys.version_info[:2] not in _PYTHONS:
        raise BootstrapFailed(f"Python 3.11 or 3.12 is needed, this is {sys.version.split()[0]}; set PYTHON=…")
    stamp = fingerprint()
    if is_ready(stamp):
        return
    # If two targets run at once in one checkout, the second waits and finds the work done.
    heartbeat = Heartbeat(say)
    with (PROJECT / ".venv.lock").open("a") as lock:
        with heartbeat.during("waiting for another target that makes .venv"):
            fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_ready(stamp):
            _install(heartbeat)
            (VENV / "ava-stamp").write_text(stamp)
            say("environment is ready")


def _install(heartbeat: Heartbeat) -> None:
    python = VENV / "bin" / "python"
    (VENV / "ava-stamp").unlink(missing_ok=True)
    if not runs(python) or not runs(python, "-m", "pip", "--version"):
        say("1/4 creating .venv")
        with heartbeat.during("creating .venv"):
            shutil.rmtree(VENV, ignore_errors=True)
            venv.create(VENV, with_pip=True, symlinks=True)
    say(f"2/4 installing {UV}")
    with heartbeat.during(f"installing {UV}"):
        _run("pip install uv", [str(python), "-m", "pip", "install", "--quiet", UV])
    with heartbeat.during("installing torch"):
        install_torch(python)
    say("4/4 installing the locked packages (about 2.5 GB on disk the first time)")
    with heartbeat.during("installing the locked packages"):
        install_locked(python, LOCK)


def install_locked(python: Path, lock: Path) -> None:
    """Install exactly the packages of a lock file, hashes checked, into python's environment, with .venv's uv."""
    packages = ["--no-deps", "--require-hashes", "-r", str(lock)]
    if _uv_install(python, ["--quiet", *packages]) is not None:
        return
    say("    uv failed; trying pip, which is slower")
    with_pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # The lock holds packages that declare an upper bound on Python: uv reads the bound as a wish, pip as a ban.
    _run(f"pip install -r {lock.name}", [*with_pip, "--ignore-requires-python", *packages])


def _uv_install(python: Path, arguments: list[str]) -> str | None:
    """Return what uv reported of ``pip install`` into python's environment, None if it failed."""
    env = dict(os.environ)
    links = find_links(python)
    if links and "UV_FIND_LINKS" not in env:
        # uv does not read pip's configuration.
        env["UV_FIND_LINKS"] = ",".join(links)
    command = [str(VENV / "bin" / "uv"), "pip", "install", "--python", str(python), *arguments]
    for attempt in (env, env | _SYSTEM_CERTIFICATES):
        # uv obeys a pyproject.toml above its folder, but this project's overrides belong to this project's environment.
        done = subprocess.run(
            command, env=attempt, cwd=python.parents[1], stderr=subprocess.PIPE, text=True, check=False
        )
        if done.returncode == 0:
            return done.stderr
        say(f"    uv failed: {done.stderr.strip()[-500:]}")
    return None


def install_torch(python: Path) -> None:
    """Install the CPU build of torch named in constraints/cpu.txt into python's environment, unless it is there."""
    torch = next(line.strip() for line in CONSTRAINTS.read_text().splitlines() if line.startswith("torch=="))
    have = subprocess.run(
        [str(python), "-c", "from importlib.metadata import version; print(version('torch'))"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    if have.partition("+")[0] == torch.removeprefix("torch=="):
        say(f"3/4 torch {have} is there")
        return
    plan = _uv_install(python, ["--no-deps", "--dry-run", torch])
    cpu = [] if plan is not None and "+cpu" in plan else ["--index-url", TORCH_CPU_INDEX]
    say(f"3/4 installing {torch}, the CPU build{' from the index of PyTorch' if cpu else ''}")
    if _uv_install(python, ["--no-deps", "--quiet", *cpu, torch]) is None:
        say("    uv failed; trying pip, which is slower")
        pip = [str(python), "-m", "pip", "install", "--no-deps", "--disable-pip-version-check", "--quiet"]
        _run("pip install torch", [*pip, *cpu, torch])


def find_links(python: Path) -> list[str]:
    """Return the folders and pages of wheels that the configuration of python's pip names."""
    listed = subprocess.run(
        [str(python), "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    ).stdout
    find_links: list[str] = []
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        if key.endswith("find-links"):
            find_links += [
                link for link in value.strip().strip("'\"").replace("\\n", " ").split() if link not in find_links
            ]
    return find_links


def relock() -> None:
    """Write requirements.lock again from pyproject.toml."""
    compile_lock(["pyproject.toml", "--extra", "ml", "--extra", "local", "--extra", "dev"], LOCK)


def compile_lock(arguments: list[str], lock: Path) -> None:
    """Resolve the arguments of ``uv pip compile`` into lock, without torch, whose build depends on the machine."""
    env = dict(os.environ)
    if links := find_links(VENV / "bin" / "python"):
        env.setdefault("UV_FIND_LINKS", ",".join(links))
    command = [str(VENV / "bin" / "uv"), "pip", "compile", *arguments]
    command += ["-c", str(CONSTRAINTS.relative_to(PROJECT)), "--generate-hashes", "--python-version", "3.11"]
    command += ["--no-emit-index-url", "--no-emit-find-links", "--quiet", "-o", str(lock.relative_to(PROJECT))]
    done = subprocess.run(command, cwd=PROJECT, env=env, check=False)
    if done.returncode != 0:
        raise BootstrapFailed("uv pip compile failed")
    lock.write_text(without(lock.read_text(), "torch"))


def without(lock: str, package: str) -> str:
    """Return the text of a lock file without one package's entry: its line, its hashes and its comments."""
    entries, dropping = [], False
    for line in lock.splitlines(keepends=True):
        if not line.startswith((" ", "\t", "#")):
            dropping = line.startswith(f"{package}==")
        if not dropping:
            entries.append(line)
    return "".join(entries)


def runs(program: Path, *arguments: str) -> bool:
    """Whether an interpreter exists and starts, with these arguments if any."""
    try:
        return (
            subprocess.run([str(program), *(arguments or ("-c", ""))], capture_output=True, check=False).returncode == 0
        )
    except OSError:
        return False


def _run(step: str, command: list[str]) -> None:
    if subprocess.run(command, check=False).returncode != 0:
        raise BootstrapFailed(f"{step} failed; the lines above say why")


def say(line: str) -> None:
    """Print a line to stderr, so that the output of a target stays clean."""
    print(f"bootstrap: {line}", file=sys.stderr, flush=True)


def main() -> int:
    """Make the environment; with the argument ``lock``, write requirements.lock again instead."""
    try:
        if sys.argv[1:] == ["lock"]:
            relock()
        else:
            ensure()
    except BootstrapFailed as error:
        say(f"ERROR {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
