"""A box gets no more memory than the container that it runs in."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_workers.engine.indexing.box.memory_limit import bounded, container_memory

GIB = 2**30


@pytest.mark.parametrize(
    ("listed", "files", "limit"),
    [
        ("0::/\n", {"memory.max": f"{2 * GIB}\n"}, 2 * GIB),
        ("0::/\n", {"memory.max": "max\n"}, None),
        ("0::/a/b\n", {"a/memory.max": f"{3 * GIB}\n", "a/b/memory.max": "max\n"}, 3 * GIB),
        ("0::/a/b\n", {"a/memory.max": f"{3 * GIB}\n", "a/b/memory.max": f"{GIB}\n"}, GIB),
        ("4:pids:/\n3:memory:/docker/x\n", {"memory/memory.limit_in_bytes": f"{2 * GIB}\n"}, 2 * GIB),
        ("3:memory:/\n", {"memory/memory.limit_in_bytes": "9223372036854771712\n"}, None),
        ("4:pids:/\n", {}, None),
    ],
)
def test_the_smallest_group_counts(tmp_path: Path, listed: str, files: dict[str, str], limit: int | None) -> None:
    groups, processes = tmp_path / "groups", tmp_path / "cgroup"
    processes.write_text(listed)
    for name, text in files.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(text)
    assert container_memory(processes, groups) == limit


def test_a_box_gets_what_the_container_has_and_enough_to_begin() -> None:
    assert bounded(4 * GIB, None) == 4 * GIB
    assert bounded(4 * GIB, 2 * GIB) == 2 * GIB
    assert bounded(4 * GIB, 8 * GIB) == 4 * GIB
    assert bounded(4 * GIB, GIB // 2) == GIB
