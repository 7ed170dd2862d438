"""How soon another worker has the job of a worker that has to go: at SIGTERM, and at a cloud's notice."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.figures import Figures, at_most, show_progress
from bench.stack import NOT_USED
from infra.local.stack import Stack

TURNS = 5
FREE_S, TAKEN_S = 5.0, 10.0
_CURL = """#!/bin/bash
# The machine's metadata: the answer to a path is a file of that name.
exec cat "$SCRIPT/$(basename "${@: -1}")" 2> /dev/null
"""


def drains() -> Figures:
    root = Path(tempfile.mkdtemp(prefix="ava-bench-"))
    # An unprivileged server process must be able to enter it.
    root.chmod(0o755)
    try:
        with Stack(root, frozenset({"postgres", "valkey"}), durable=False, environ={**os.environ}) as stack:
            env = {**NOT_USED, **stack.env(), "DJANGO_SETTINGS_MODULE": "backend.settings"}
            for command in (["provision"], ["migrate", "--noinput", "--database", "owner", "-v0"]):
                subprocess.run([sys.executable, "manage.py", *command], check=True, env={**os.environ, **env}, stdout=2)
            with patch.dict(os.environ, env):
                yield from _figures(root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _figures(root: Path) -> Figures:
    import django

    django.setup()
    from django.db import connections

    from backend.tenancy.creation import create_tenant

    tenant_id = create_tenant(name="Bench", slug="bench").id
    try:
        for name, notice, when in (
            ("drain", _terminated, "SIGTERM"),
            ("spot", _noticed, "the notice of the cloud, which the machine's own script looks for"),
        ):
            taken = [_turn(root / f"{name}-{turn}", tenant_id, notice) for turn in range(TURNS)]
            where = f"the longest of {TURNS} turns, from {when}, with AVA_DRAIN_SECONDS as it is by default"
            yield at_most(f"{name}_lease_free_s", max(free for free, _ in taken), FREE_S, where)
            yield at_most(f"{name}_taken_over_s", max(again for _, again in taken), TAKEN_S, where)
    finally:
        connections.close_all()


def _turn(folder: Path, tenant_id: Any, notice: Callable[[Path, Any], Any]) -> tuple[float, float]:
    """Return the seconds until the lease is free, and until an idle worker runs the job."""
    from uuid6 import uuid7

    from backend.jobs import services
    from backend.jobs.models import Job, JobKind
    from backend.tenancy.context import tenant_scope
    from tests.workers.worker_process import WorkerProcess

    folder.mkdir()
    leaving, heir = (
        WorkerProcess(folder, os.environ["REDIS_URL"], AVA_LEASE_SECONDS="600", AVA_WORKER_STATE=str(folder / name))
        for name in ("leaving", "heir")
    )
    subject = leaving.hold()
    try:
        leaving.start()
        with tenant_scope(tenant_id):
            job = services.enqueue(kind=JobKind.PROBE_VIDEO, subject_id=subject, dedupe_key=f"probe:{uuid7()}").id
        leaving.wait(lambda: len(leaving.starts(subject)) == 1, "the job does not start")
        heir.start()
        heir.wait(lambda: len(heir.loads()) == 2, "the other worker does not start")
        free: list[float] = []

        def passed_on() -> bool:
            with tenant_scope(tenant_id):
                state, claims = Job.objects.values_list("state", "lease_token").get(id=job)
            if not free and (state == "queued" or claims == 2):
                free.append(time.monotonic())
            return len(heir.starts(subject)) == 2

        with notice(folder, leaving) as began:
            heir.wait(passed_on, "no other worker takes the job over")
            again = time.monotonic()
        show_progress(f"  free after {free[0] - began:.1f} s, taken over after {again - began:.1f} s")
        heir.release(subject)
        return free[0] - began, again - began
    finally:
        leaving.stop()
        heir.stop()


@contextmanager
def _terminated(folder: Path, worker: Any) -> Iterator[float]:
    worker.terminate()
    yield time.monotonic()


@contextmanager
def _noticed(folder: Path, worker: Any) -> Iterator[float]:
    """Run the script of a machine of a group, and give notice at some moment of its round."""
    from tests.infra.test_terraform import WORKER, start_script

    script = start_script(folder, leaves=True, drained=["worker"], containers={"worker": {**WORKER, "environment": {}}})
    (leave,) = re.findall(r"^cat > /usr/local/sbin/ava-leave <<'EOF'\n(.*?)^EOF$", script, flags=re.M | re.S)
    programs = {
        "curl": _CURL,
        "logger": "#!/bin/bash\n",
        "aws": "#!/bin/bash\n",
        "systemctl": f"#!/bin/bash\nkill -TERM {worker.process.pid}\n",
    }
    (folder / "bin").mkdir()
    for name, source in programs.items():
        (folder / "bin" / name).write_text(source)
        (folder / "bin" / name).chmod(0o755)
    for name in ("token", "instance-id"):
        (folder / name).write_text("i-1")
    environment = {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "SCRIPT": str(folder)}
    with subprocess.Popen(["bash", "-c", leave], env=environment) as running:
        try:
            time.sleep(2 + random.Random(folder.name).random())
            (folder / "instance-action").write_text("{}")
            yield time.monotonic()
        finally:
            running.kill()
