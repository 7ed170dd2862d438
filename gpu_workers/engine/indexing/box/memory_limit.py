"""How much memory the container of this process may use, by its control groups."""

from __future__ import annotations

from functools import cache
from pathlib import Path

LEAST_BYTES = 2**30
"""Address space without which a box cannot even load its libraries."""
_FILES = {2: "memory.max", 1: "memory.limit_in_bytes"}
_UNLIMITED = 2**62
"""Version 1 writes a number near 2**63 for no limit."""


@cache
def container_memory(processes: Path = Path("/proc/self/cgroup"), groups: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return the bytes that the smallest group around this process allows; None if no group has a limit.

    processes: the groups of this process, as the kernel lists them. groups: where they are mounted.
    """
    found: list[int] = []
    lines = processes.read_text().splitlines() if processes.exists() else []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        version, root = (1, groups / "memory") if controllers else (2, groups)
        inner = root / path.strip("/")
        # A container sees its own group as the root, and the path of the host may not exist there.
        for folder in {root, inner, *(one for one in inner.parents if root in one.parents)}:
            found += _limit(folder / _FILES[version])
    return min(found, default=None)


def bounded(memory_bytes: int, container: int | None) -> int:
    """Return the address space of a box: not more than its container has, and enough to begin."""
    return memory_bytes if container is None else min(memory_bytes, max(LEAST_BYTES, container))


def _limit(file: Path) -> list[int]:
    try:
        text = file.read_text().strip()
    except OSError:
        return []
    return [int(text)] if text.isdigit() and int(text) < _UNLIMITED else []
