"""A worker that was asked to stop ends in order, however long it has run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
# In a process of its own, because a pool forks. Its loop is that of a worker: start, look, stop, look.
_STOPPING = """
import os, sys, time, types
from celery.concurrency.prefork import TaskPool
from celery.worker import state as celery_state
from workers.app import app
from workers.pool import Watch, _stops
from django.conf import settings

settings.MODEL_LOAD_SECONDS = 0
pool = TaskPool(1, app=app)
pool.start()
watch = Watch(types.SimpleNamespace(steps=[]))
watch._pool, watch._forks = pool, True
first = watch._children()
assert [child.pid for child in first] == [process.pid for process in pool._pool._pool], first
assert not _stops()
celery_state.should_stop = 0
assert _stops()
pool.stop()
time.sleep(0.01)
assert watch._children() == (), watch._children()
assert watch._hopeless(watch._children()) == ""
os._exit(0)
"""


def test_a_pool_that_has_ended_is_no_process_that_loads_for_ever(database: None) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _STOPPING], cwd=PROJECT, env=os.environ, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
