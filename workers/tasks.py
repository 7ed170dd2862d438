"""The one Celery task: run the job that a wake-up names."""

from __future__ import annotations

import os
import socket
from uuid import UUID

from workers.app import RUN_JOB, app
from workers.runner import run_job


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


@app.task(name=RUN_JOB)
def run_job_task(job_id: str, tenant_id: str) -> None:
    run_job(UUID(job_id), UUID(tenant_id), worker=worker_name())
