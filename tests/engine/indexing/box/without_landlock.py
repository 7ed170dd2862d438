"""Decodes with a device on a host without Landlock, and prints what happened: `without_landlock RECORDING`."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sys

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.box import syscalls
from gpu_workers.engine.indexing.box.boxes import Box, BoxUnavailable
from gpu_workers.engine.indexing.sampling import sample_frames

LANDLOCK_CALLS = (444, 445, 446)


def take_landlock_away() -> None:
    """Make this process, and all that it starts, see a kernel that knows no Landlock."""
    seccomp = syscalls.library()
    context = seccomp.seccomp_init(0x7FFF0000)
    for number in LANDLOCK_CALLS:
        assert seccomp.seccomp_rule_add_array(context, 0x00050000 | errno.ENOSYS, number, 0, None) == 0
    assert seccomp.seccomp_load(ctypes.c_void_p(context)) == 0


def box(*, device: bool) -> list[str] | str:
    """Return the layers of a box, or why it does not start."""
    try:
        with Box("tests.engine.indexing.box.intruder:sleep", {}, device=device) as started:
            return list(started.layers)
    except BoxUnavailable as error:
        return str(error)


def main() -> None:
    take_landlock_away()
    os.environ["AVA_HWACCEL"] = "cuda"
    with sample_frames(sys.argv[1], Span(0, 2_000), fps=1, max_side=64) as frames:
        times = [frame.ms for frame in frames]
    print(json.dumps({"device": box(device=True), "cpu": box(device=False), "times": times}))


if __name__ == "__main__":
    main()
