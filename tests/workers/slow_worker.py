"""The real Celery application with scripted work: `celery -A tests.workers.slow_worker worker` runs it.

A test and the worker meet in the folder SCRIPT: the test writes files that the work and the models obey.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

# First, because it sets Django up.
from workers.app import app  # isort: skip
from backend.jobs.models import JobKind
from gpu_workers.engine.models.roles import ModelCall, ModelError
from workers import loading, runner
from workers.runner import FollowUp, Work

__all__ = ["app", "handle", "load"]

SCRIPT = Path(os.environ["SCRIPT"])
runner.HANDLERS[JobKind.PROBE_VIDEO] = __name__
loading.LOADERS["cpu.probe"] = (__name__, "load")
loading.RETRY_SECONDS = 0.5
runner.EXIT_SECONDS = 2.0
runner.STUCK_SECONDS = float(os.environ.get("STUCK_SECONDS", runner.STUCK_SECONDS))


def load() -> None:
    """Load for as many seconds as the file load_seconds says; fail if there is a file broken or unserved."""
    seconds = SCRIPT / "load_seconds"
    time.sleep(float(seconds.read_text()) if seconds.exists() else 0)
    if (SCRIPT / "broken").exists():
        raise ValueError("the weights are damaged")
    if (SCRIPT / "unserved").exists():
        raise ModelError("model_misconfigured", "the server does not list qwen", retryable=True)
    with (SCRIPT / "loaded").open("a") as lines:
        lines.write(f"{os.getpid()}\n")


def handle(work: Work) -> FollowUp | None:
    """Note the process and the attempt, then end the job; first wait while a file hold-ID exists, deaf to limits.

    Work that waits asks for its lease if there is a file attentive. Each attempt meters one call of a model.
    """
    subject = work.lease.subject_id
    with (SCRIPT / f"started-{subject}").open("a") as lines:
        lines.write(f"{os.getpid()} {work.lease.attempt}\n")
    work.meter().record(ModelCall("description", "scripted", wall_ms=1_000, prompt_tokens=10, completion_tokens=1))
    while (SCRIPT / f"hold-{subject}").exists():
        if (SCRIPT / "attentive").exists():
            work.require_lease()
        try:
            time.sleep(0.05)
        except Exception:
            continue
    work.finish()
    return None
