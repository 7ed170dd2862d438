"""Whether a clip shows what was asked for, and what the clips of one tenant cost the questions of another."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psycopg

from bench.abused_service import AbusedService, abused_service
from bench.figures import Figures, at_most, show_progress
from infra.local.demo.client import Client, sha256_of

ROUNDS, PARALLEL = 2, 20
FRAME_MS, SECONDS = 40, 60
PATIENCE_S, SLOWER = 600.0, 1.2
_OPEN = "SELECT count(*) FROM jobs_job WHERE queue = 'cpu.render' AND state IN ('queued', 'running')"


def clips() -> Figures:
    with (
        tempfile.TemporaryDirectory() as folder,
        abused_service("worker-probe", "worker-render") as service,
        psycopg.connect(service.database, autocommit=True) as rows,
    ):
        video = _recorded(service, Path(folder))
        _wait(lambda: _is_measured(service, video) and not _open(rows))
        yield from _edges(service, video, Path(folder), rows)
        calm: list[float] = []
        disturbed: list[float] = []
        for number in range(1, ROUNDS + 1):
            calm.append(service.customers_p95()["question"])
            for turn in range(PARALLEL):
                _ask(service, video, start_ms=1_000 * turn, end_ms=1_000 * turn + 30_000)
            disturbed.append(service.customers_p95()["question"])
            if not _open(rows):
                raise RuntimeError("the clips were made before the questions were asked: make them longer")
            _wait(lambda: not _open(rows))
            show_progress(f"  round {number} of {ROUNDS}")
    under, free = statistics.median(disturbed), statistics.median(calm)
    where = f"p95 of accepted questions without clips, {free:.3f} s; {PARALLEL} exact clips of 30 s wait or are made"
    yield at_most("clips_question_p95_ratio", under / free, SLOWER, where)


def _recorded(service: AbusedService, folder: Path) -> str:
    """Upload a recording in 720p whose pictures show their number, and return its video's id."""
    from tests.engine.indexing.media import run_ffmpeg
    from tests.engine.media.binary_clock import write_clock

    small = write_clock(folder / "clock.mkv", [n * FRAME_MS for n in range(SECONDS * 1000 // FRAME_MS)], gop=50)
    file = folder / "clock.mp4"
    run_ffmpeg("-i", str(small), "-vf", "scale=1280:720", "-preset", "ultrafast", str(file))
    client = Client(service.url, service.key)
    video: str = client.upload(file, sha256=sha256_of(file), on_sent=lambda sent: None)["id"]
    return video


def _edges(service: AbusedService, video: str, folder: Path, rows: psycopg.Connection[Any]) -> Figures:
    """Yield how far a clip's first and last picture lie from the span that was asked for."""
    from tests.engine.media.binary_clock import shown

    start_ms, end_ms = 20_015, 30_030
    made = _ask(service, video, start_ms=start_ms, end_ms=end_ms)
    _wait(lambda: not _open(rows))
    clip = service.call("GET", f"/clips/{made['id']}", None)
    (folder / "clip.mp4").write_bytes(httpx.get(clip["url"], trust_env=False).raise_for_status().content)
    pictures = shown(folder / "clip.mp4")
    first, last = (pictures[place].number * FRAME_MS for place in (0, -1))
    asked = f"ms from {start_ms} to {end_ms} of a recording with a picture every {FRAME_MS} ms"
    yield at_most("clip_begin_off_ms", abs(first - start_ms), FRAME_MS, asked)
    yield at_most("clip_end_off_ms", abs(last + FRAME_MS - end_ms), FRAME_MS, asked)


def _ask(service: AbusedService, video: str, *, start_ms: int, end_ms: int) -> Any:
    return service.call("POST", "/clips", {"video_id": video, "start_ms": start_ms, "end_ms": end_ms})


def _is_measured(service: AbusedService, video: str) -> bool:
    return service.call("GET", f"/videos/{video}", None)["status"] not in ("queued", "probing")


def _open(rows: psycopg.Connection[Any]) -> int:
    found = rows.execute(_OPEN).fetchone()
    return 0 if found is None else int(found[0])


def _wait(done: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not done():
        if time.monotonic() > until:
            raise RuntimeError("the clips are not made")
        time.sleep(0.2)
