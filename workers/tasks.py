"""The one Celery task: run jobs of the class that a bell names."""

from __future__ import annotations

import os
import socket

from workers.app import RUN_CLASS, app
from workers.runner import run_class


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


@app.task(name=RUN_CLASS)
def run_class_task(queue: str) -> None:
    run_class(queue, worker=worker_name())
