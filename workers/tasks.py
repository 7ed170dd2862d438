"""The one Celery task: run jobs of the class that a bell names."""

from __future__ import annotations

import os
import socket

from workers.app import RUN_CLASS, app
from workers.runner import owner, run_class


@app.task(name=RUN_CLASS)
def run_class_task(queue: str) -> None:
    run_class(queue, worker=owner(socket.gethostname(), os.getpid()))
