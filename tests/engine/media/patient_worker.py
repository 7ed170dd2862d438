"""Encodes without an end and prints the niceness of ffmpeg and that of its session: run by test_encoding.py."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import ffmpeg

from gpu_workers.engine.media.encoding import encode, workspace
from tests.engine.media.test_encoding import processes_in


class Seen(Exception):
    pass


def main() -> None:
    with workspace() as folder:

        def look() -> None:
            for process in processes_in(folder):
                session = Path(f"/proc/{process}/autogroup").read_text().split()[-1]
                print(os.getpriority(os.PRIO_PROCESS, int(process)), session)
                raise Seen

        encode(ffmpeg.output(ffmpeg.input("testsrc2=r=10", format="lavfi"), "out.mkv"), folder, on_progress=look)


if __name__ == "__main__":
    with contextlib.suppress(Seen):
        main()
