"""The folder for temporary files of all processes: a small file system of its own, which can be full."""

from __future__ import annotations

import subprocess
from pathlib import Path

from gpu_workers.engine.models.host_occupancy import DEVICE_FILE

SIZE = "192m"
FILLER = "filler"


class Scratch:
    """A tmpfs, where this user may mount one; else a plain folder, which is never full."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mounted = False

    def make(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=1777", "tmpfs", str(self.folder)], capture_output=True
        )
        self.mounted = done.returncode == 0

    def fill(self) -> None:
        """Leave no byte free."""
        if not self.mounted:
            return
        with (self.folder / FILLER).open("ab", buffering=0) as filler:
            for size in (1 << 20, 1 << 12, 1):
                try:
                    while filler.write(b"\0" * size):
                        continue
                except OSError:
                    continue

    def empty(self) -> None:
        """Give the space back."""
        (self.folder / FILLER).unlink(missing_ok=True)

    def files(self) -> list[Path]:
        """Return the files that lie there, apart from the states of workers and the one file of each device, which
        counts for all processes of a host and stays (gpu_workers.engine.models.host_occupancy)."""
        state = self.folder / "state"
        every = (file for file in self.folder.rglob("*") if file.is_file() and state not in file.parents)
        return [file for file in every if not file.name.startswith(DEVICE_FILE)]

    def remove(self) -> None:
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.folder)], check=False)
            self.mounted = False
