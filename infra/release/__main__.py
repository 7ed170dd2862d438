"""Freeze the release that pyproject.toml names: `make freeze-release`.

Writes infra/release/<version>: the migrations with their hashes, what the guard of tenants accepts, and a backup of a
small installation that is made by the code of now on the local stack.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.release.version import PROJECT, VERSION

SEED, TENANTS = "seed.tar.xz", "tenants.json"
"""The backup of a release, and what is known about its tenants."""


def main() -> int:
    """Write the folder of the release again; exit status 1 if the installation cannot be made."""
    folder = PROJECT / "infra" / "release" / VERSION
    with TemporaryDirectory(prefix="ava-release-") as made:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "tests/release/make_seed.py"]
        done = subprocess.run(command, cwd=PROJECT, env={**os.environ, "AVA_SEED_FOLDER": made}, check=False)
        if done.returncode != 0:
            print("freeze-release: the installation could not be made; the lines above say why", file=sys.stderr)
            return 1
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)
    size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    print(f"infra/release/{VERSION}: {size / 1000:.0f} kB. Commit it, then tag v{VERSION}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
