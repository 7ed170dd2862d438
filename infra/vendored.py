"""`make vendored` fetches the browser libraries of the player and of the web app from npm again, as the vendored.json
of each folder names them.

Such a file names each package with its version and npm's integrity hash of the archive, and for each file that is kept
its name in the archive and its SHA-256. The hash of the archive is written by hand, from the registry, when a version
is changed. The others are written here, and tests/infra/test_vendored.py compares them with the files.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from infra.local.bootstrap import PROJECT

FOLDERS = (PROJECT / "backend" / "playback" / "static" / "playback" / "vendor", PROJECT / "web" / "vendor")
LIST = "vendored.json"


class NotVendored(Exception):
    """A package cannot be fetched, or is not what the list names; the message says why."""


def packages(folder: Path) -> list[dict[str, Any]]:
    """Return the packages of a folder's list."""
    named: list[dict[str, Any]] = json.loads((folder / LIST).read_text())
    return named


def digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fetch(package: dict[str, Any], folder: Path) -> None:
    """Fetch a package, and put its named files into a folder. Raises NotVendored."""
    npm = shutil.which("npm")
    if npm is None:
        raise NotVendored("npm is not on the PATH; install Node.js")
    with tempfile.TemporaryDirectory() as scratch:
        name = f"{package['package']}@{package['version']}"
        done = subprocess.run([npm, "pack", "--silent", name], cwd=scratch, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotVendored(f"npm pack {name}: {done.stderr.strip()}")
        unpack(Path(scratch) / done.stdout.split()[-1], package, folder)


def unpack(archive: Path, package: dict[str, Any], folder: Path) -> None:
    """Put the named files of a package's archive into a folder. Raises NotVendored if the archive is another one."""
    algorithm, _, wanted = package["integrity"].partition("-")
    found = base64.b64encode(hashlib.new(algorithm, archive.read_bytes()).digest()).decode()
    if found != wanted:
        raise NotVendored(f"{archive.name} has the hash {algorithm}-{found}, not {package['integrity']}")
    with tarfile.open(archive) as packed:
        for file in package["files"]:
            try:
                member = packed.extractfile(f"package/{file['from']}")
            except KeyError:
                member = None
            if member is None:
                raise NotVendored(f"{archive.name} has no file {file['from']}")
            (folder / file["name"]).write_bytes(member.read())


def refresh(folder: Path) -> list[str]:
    """Fetch every package of a folder, write the hashes of the files, and return what was fetched."""
    named = packages(folder)
    for package in named:
        fetch(package, folder)
        for file in package["files"]:
            file["sha256"] = digest(folder / file["name"])
    (folder / LIST).write_text(json.dumps(named, indent=2) + "\n")
    return [f"{package['package']} {package['version']}" for package in named]


def main() -> int:
    """Refresh every folder. Returns the exit status."""
    try:
        fetched = [name for folder in FOLDERS for name in refresh(folder)]
    except NotVendored as error:
        print(f"vendored: ERROR {error}", file=sys.stderr)
        return 1
    print("vendored:", ", ".join(fetched))
    return 0


if __name__ == "__main__":
    sys.exit(main())
