"""Sending files with a bar on a terminal, and watching a folder for them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from ava_cloud._times import clock
from ava_cloud.cli.output import Output

if TYPE_CHECKING:
    from ava_cloud._sync.client import Ava

_LOOK_S = 2.0
_QUIET_LOOKS = 2
"""How often a file must look the same before it is taken to be finished."""


def send(ava: Ava, out: Output, file: Path, collection: str | None, *, wait: bool) -> None:
    """Send a file, print its video, and wait for its index if that is asked."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    try:
        with Progress(*columns, console=out.errors, disable=not out.errors.is_terminal) as bars:
            bar = bars.add_task(file.name, total=file.stat().st_size)
            video = ava.videos.upload(
                file, collection_id=collection, on_progress=lambda sent, _: bars.update(bar, completed=sent)
            )
            if wait:
                index = bars.add_task("index", total=None)
                video = ava.videos.wait_ready(
                    video.id,
                    on_progress=lambda now: bars.update(
                        index, total=now.duration_ms, completed=now.indexed_until_ms,
                        description=f"index {now.status} {clock(now.indexed_until_ms)}",
                    ),
                )  # fmt: skip
    except KeyboardInterrupt:
        out.note(f"Stopped. `ava upload {file}` goes on where it was, within 24 hours.")
        raise
    out.row(video, video.id)


def watched(folder: Path) -> Iterator[Path]:
    """Yield each file of a folder once it has not changed for a few seconds, those that are there first."""
    seen: dict[Path, tuple[int, int, int]] = {}
    done: set[tuple[Path, int]] = set()
    while True:
        for path in sorted(folder.iterdir()):
            if not path.is_file() or path.name.startswith("."):
                continue
            state = path.stat()
            size, changed, looks = seen.get(path, (-1, -1, 0))
            looks = looks + 1 if (size, changed) == (state.st_size, state.st_mtime_ns) else 0
            seen[path] = (state.st_size, state.st_mtime_ns, looks)
            if looks >= _QUIET_LOOKS and state.st_size and (path, state.st_mtime_ns) not in done:
                done.add((path, state.st_mtime_ns))
                yield path
        time.sleep(_LOOK_S)
