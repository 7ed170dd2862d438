"""A small real video, its upload, and a relay run by the test."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID, uuid4

from django.utils import timezone

from backend.jobs.breakers import outages
from backend.jobs.dispatching import CLASSES, NextJob, claim_next, mark_due, next_jobs
from backend.jobs.models import QUEUE_OF, Job, JobKind, JobState
from backend.jobs.services import enqueue
from backend.library.indexing.begin import create_video, enqueue_probe
from backend.library.storage import ObjectMissing, ObjectStorage, source_key
from infra.local import ffmpeg
from tests.conftest import Cast
from tests.running import run_job
from tests.tasks.eyes import BLUE, GREEN, RED
from workers.runner import run_leased


@dataclass(frozen=True, slots=True)
class Scene:
    """One colour over whole chunks (except at the video's end)."""

    colour: str
    start_ms: int
    end_ms: int


FORTY_SECONDS = (Scene(RED, 0, 15_000), Scene(GREEN, 15_000, 27_000), Scene(BLUE, 27_000, 40_000))
RENDERING = ("cpu.render",)
WITHOUT_MODELS = tuple(queue for queue in CLASSES if not queue.startswith("gpu.") and queue not in RENDERING)
"""The classes that fetch, probe and delete: a test of what is stored needs no index."""
WITHOUT_WEBHOOKS = tuple(queue for queue in CLASSES if queue != QUEUE_OF[JobKind.DELIVER_WEBHOOK])
"""The classes of workers. A sender delivers webhooks (tests.webhooks)."""
MOST_ROUNDS = 200
"""Number of passes after which run_due() takes an outage for endless."""
TWELVE_SECONDS = (Scene(RED, 0, 6_000), Scene(GREEN, 6_000, 12_000))


@cache
def recording(scenes: Sequence[Scene]) -> bytes:
    """Return a real MP4 of plain scenes with a white square that moves, 10 pictures a second, 96x64."""
    inputs: list[str] = []
    for scene in scenes:
        seconds = (scene.end_ms - scene.start_ms) / 1000
        inputs += ["-f", "lavfi", "-i", f"color=c={scene.colour}:s=96x64:r=10:d={seconds}"]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "scenes.mp4"
        moving = "overlay=x='mod(20*t,84)':y=26:shortest=1"
        joined = f"concat=n={len(scenes)}:v=1:a=0[scenes];color=c=white:s=12x12:r=10[square];[scenes][square]{moving}"
        command = [str(ffmpeg.ffmpeg()), "-nostdin", "-v", "error", *inputs, "-filter_complex", joined]
        subprocess.run([*command, "-c:v", "mpeg4", "-q:v", "2", "-g", "10", str(file)], check=True)
        return file.read_bytes()


def stored_video(cast: Cast, scenes: Sequence[Scene] = FORTY_SECONDS) -> UUID:
    """Store the recording, its row and its probe job, like a completed upload."""
    return arrived(cast, recording(scenes))


def arrived(cast: Cast, content: bytes) -> UUID:
    """Make a video of this content, like a completed upload."""
    key = source_key(cast.tenant_id, uuid4())
    ObjectStorage().put(key, content, content_type="video/mp4")
    with cast.scope():
        video = create_video(object_key=key, size_bytes=len(content), title="scenes", input_closed_at=timezone.now())
        enqueue_probe(video.id)
        return UUID(str(video.id))


def exists(key: str) -> bool:
    """Whether there is an object of that key."""
    try:
        ObjectStorage().head(key)
    except ObjectMissing:
        return False
    return True


def run_due(*, times: int = 1, rounds: int = MOST_ROUNDS, classes: Sequence[str] = CLASSES) -> list[UUID]:
    """Run the jobs that wait, in the order of their class, until none may run. times: how often each is offered to a
    worker. rounds: number of passes over what waits, for a test of an outage that does not end. classes: others go on
    waiting. Returns the jobs that waited; those that another job's worker ran at once are not among them."""
    ran: list[UUID] = []
    for _ in range(rounds):
        mark_due()
        waiting = [(queue, job) for queue in classes for job in next_jobs(queue, limit=1_000) if not job.reason]
        if not waiting:
            return ran
        for queue, job in waiting:
            for n in range(times):
                _offer(queue, job, worker=f"test:{n}")
            ran.append(job.job_id)
    assert rounds < MOST_ROUNDS, "jobs are put back again and again"
    return ran


def _offer(queue: str, job: NextJob, *, worker: str) -> None:
    """Let a worker run the job, or the next job of its class while a dependency is away: only a claim by class tries
    the dependency."""
    if not outages():
        run_job(job.job_id, job.tenant_id, worker=worker)
        return
    lease = claim_next(queue, worker=worker)
    if lease is not None:
        run_leased(lease, worker=worker)


def run_past_deadlines(cast: Cast) -> None:
    """Run the jobs while a dependency stays away, until the deadlines of those that wait for it have passed."""
    while True:
        run_due(rounds=4)
        with cast.scope():
            waiting = Job.objects.filter(state=JobState.QUEUED).exclude(dependency="")
            if not waiting.update(deadline_at=timezone.now() - timedelta(seconds=1)):
                return


def indexed_video(cast: Cast, scenes: Sequence[Scene] = FORTY_SECONDS) -> UUID:
    video_id = stored_video(cast, scenes)
    run_due()
    return video_id


def ring_again(cast: Cast) -> None:
    """Queue every job of the tenant again, as if each had been enqueued once more."""
    with cast.scope():
        for job in Job.objects.exclude(kind=JobKind.DELIVER_WEBHOOK):
            enqueue(kind=JobKind(job.kind), subject_id=job.subject_id, dedupe_key=job.dedupe_key)
