"""Makes the database that every test process clones, while the tests are collected: python -m tests.template LOG."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

STEPS = (["provision"], ["migrate", "--noinput", "--database", "owner", "-v0", "--skip-checks"])


def main(log: Path) -> int:
    with log.open("wb") as said:
        for step in STEPS:
            failed = subprocess.run(
                [sys.executable, "manage.py", *step], stdout=said, stderr=said, check=False
            ).returncode
            if failed:
                log.with_suffix(".failed").touch()
                return 1
    log.with_suffix(".done").touch()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
