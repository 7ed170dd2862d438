"""The embedded models on a real video, through the service as the demo runs it: is it faster than the video plays?"""

from __future__ import annotations

import os
from pathlib import Path

from bench.figures import Figure, Figures, at_least
from bench.service import index, service
from bench.videos import with_sound
from infra.local.default_video import default_video

VIDEO, SPEECH = "AVA_BENCH_VIDEO", "AVA_BENCH_SPEECH"


def real_time() -> Figures:
    """Measure the local stack's own workers, whose models are loaded when the service is ready."""
    path = _video()
    with service() as client:
        made = index(client, path)
        events = sum(1 for _ in client.pages(f"/videos/{made['id']}/events"))
        spoken = sum(1 for _ in client.pages(f"/videos/{made['id']}/transcript"))
    timings, length_s = made["timings"], made["duration_ms"] / 1000
    wall_s = timings["index_ms"] / 1000
    reference = (
        f"{length_s:.0f} s of video ({path.name}) over {wall_s:.0f} s from the probe to ready, with the summary, "
        f"through API, queue, Postgres and S3 of the local stack; {events} events, {spoken} spoken lines"
    )
    yield at_least("embedded_real_time", length_s / wall_s, 1.0, reference)
    for stage, spent_ms in sorted(timings["stages_ms"].items()):
        if spent_ms:
            yield _stage(stage, length_s, spent_ms / 1000)


def _stage(stage: str, length_s: float, spent_s: float) -> Figure:
    factor = length_s / spent_s
    reference = (
        f"{length_s:.0f} s of video over {spent_s:.1f} s in this stage, summed over segments; stages and segments "
        f"overlap, so each is slowed by the others"
    )
    return Figure(f"embedded_real_time_{stage}", float(f"{factor:.4g}"), "none", True, reference)


def _video() -> Path:
    """Return AVA_BENCH_VIDEO, or else the demo's video; with the speech of AVA_BENCH_SPEECH as its sound, if named."""
    named = os.environ.get(VIDEO)
    path = Path(named) if named else default_video().path
    speech = os.environ.get(SPEECH)
    return with_sound(path, Path(speech)) if speech else path
