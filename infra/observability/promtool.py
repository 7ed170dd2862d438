"""promtool, the checker that comes with Prometheus: the system's, or the one of Debian's package, unpacked here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
FOLDER = PROJECT / ".local" / "promtool"
PACKAGE = "prometheus"


class NoPromtool(Exception):
    """promtool is neither installed nor in a package that this machine can get."""


def promtool() -> str | None:
    """Return the path of promtool if it is on the PATH or was unpacked before."""
    unpacked = FOLDER / "usr" / "bin" / "promtool"
    return shutil.which("promtool") or (str(unpacked) if unpacked.exists() else None)


def ensure_promtool() -> str:
    """Return the path of promtool; get Debian's package and unpack it in .local if needed. Raises NoPromtool.

    Nothing is installed into the system, and apt checks the package's signature.
    """
    found = promtool()
    if found is not None:
        return found
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise NoPromtool("promtool is not on the PATH, and there is no apt-get to get it with")
    FOLDER.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["apt-get", "download", PACKAGE], cwd=FOLDER, capture_output=True, text=True, check=False)
    packages = list(FOLDER.glob(f"{PACKAGE}_*.deb"))
    if done.returncode != 0 or not packages:
        raise NoPromtool(f"apt-get download {PACKAGE} failed: {done.stderr.strip()}")
    subprocess.run(["dpkg-deb", "--extract", str(packages[0]), str(FOLDER)], check=True)
    packages[0].unlink()
    (FOLDER / "usr" / "bin" / "prometheus").unlink(missing_ok=True)
    return str(FOLDER / "usr" / "bin" / "promtool")
