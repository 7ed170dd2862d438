"""promtool and amtool, the checkers of Prometheus and Alertmanager: the system's, or those of Debian's packages."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
FOLDER = PROJECT / ".local" / "promtool"
PACKAGES = {"promtool": "prometheus", "amtool": "prometheus-alertmanager"}
"""The package of Debian that each checker comes with."""


class NoPromtool(Exception):
    """A checker is neither installed nor in a package that this machine can get."""


def ensure_promtool(program: str = "promtool") -> str:
    """Return the path of a checker; get Debian's package and unpack it in .local if needed. Raises NoPromtool.

    Nothing is installed into the system, and apt checks the package's signature.
    """
    unpacked, package = FOLDER / "usr" / "bin" / program, PACKAGES[program]
    found = shutil.which(program) or (str(unpacked) if unpacked.exists() else None)
    if found is not None:
        return found
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise NoPromtool(f"{program} is not on the PATH, and there is no apt-get to get it with")
    FOLDER.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["apt-get", "download", package], cwd=FOLDER, capture_output=True, text=True, check=False)
    archives = list(FOLDER.glob(f"{package}_*.deb"))
    if done.returncode != 0 or not archives:
        raise NoPromtool(f"apt-get download {package} failed: {done.stderr.strip()}")
    subprocess.run(["dpkg-deb", "--extract", str(archives[0]), str(FOLDER)], check=True)
    archives[0].unlink()
    # The servers themselves are large, and not needed.
    (FOLDER / "usr" / "bin" / package).unlink(missing_ok=True)
    return str(unpacked)
