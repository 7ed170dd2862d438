"""The application processes of the local stack, in one table."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from backend.env import SIGNER_KEYS


@dataclass(frozen=True)
class AppProcess:
    """One process of the application.

    ready_line: text in its log that shows that it is ready. None if an HTTP request shows it (the API), or if being
    alive is enough.
    waiting_line: text in its log that shows that it is well and waits for another server.
    restarted: whether the supervisor starts the process again when it dies (and logs it), or stops the stack.
    kind: AVA_PROCESS, which decides what is withheld from the process. signer_key: variable of the secret that a worker
    sends to the signer, which then signs its requests to the bucket; "" for a process that asks no signer.
    """

    name: str
    arguments: tuple[str, ...]
    ready_line: str | None = None
    restarted: bool = True
    env: tuple[tuple[str, str], ...] = ()
    kind: str = "worker"
    signer_key: str = ""
    waiting_line: str | None = None

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the process out of that of the whole stack."""
        withheld = WITHHELD[self.kind] if self.uses_bucket() else WITHHELD[self.kind] | KEYS_OF_BUCKET
        kept = {name: value for name, value in given.items() if name not in withheld}
        for name in WITHOUT_PASSWORD.keys() & kept.keys():
            if self.kind != WITHOUT_PASSWORD[name]:
                kept[name] = _without_password(kept[name])
        if self.signer_key:
            kept["AVA_SIGNER_KEY"] = given[self.signer_key]
        return kept | {"AVA_PROCESS": self.kind} | dict(self.env)

    def uses_bucket(self) -> bool:
        """Whether the process has the key of the bucket."""
        return not self.signer_key and self.name not in WITHOUT_BUCKET


@dataclass(frozen=True)
class Worker:
    """A Celery worker: the queues that it reads and the number of tasks that it runs at once.

    pool: "prefork" gives each task a process, "threads" runs all tasks in one process.
    """

    name: str
    queues: tuple[str, ...]
    concurrency: int
    niceness: int = 0
    threads: int | None = None
    pool: str = "prefork"


ROOT = Path(__file__).parents[2]

_SIGN_IN = frozenset({"DATABASE_PEOPLE_URL", "DATABASE_STAFF_URL"})
_SESSIONS_AND_KEYS = frozenset({"AVA_SECRET_KEY", "AVA_CONSOLE_SECRET_KEY", "AVA_KEY_PEPPERS"})
_OF_SIGNER = frozenset(SIGNER_KEYS.values())
WITHHELD = {
    "api": _OF_SIGNER | {"DATABASE_STAFF_URL", "AVA_CONSOLE_SECRET_KEY"},
    "console": _OF_SIGNER | {"DATABASE_PEOPLE_URL", "AVA_SECRET_KEY"},
    "webhooks": _OF_SIGNER | _SIGN_IN | _SESSIONS_AND_KEYS,
    "worker": _OF_SIGNER | _SIGN_IN | _SESSIONS_AND_KEYS | {"AVA_ENCRYPTION_KEYS"},
    "signer": _SIGN_IN | _SESSIONS_AND_KEYS | {"AVA_ENCRYPTION_KEYS", "AVA_CACHE_SALT_KEY"},
}
"""Variables that the processes of a kind (AVA_PROCESS) do not get: they hold no secret that they do not use."""

WITHOUT_PASSWORD = {"DATABASE_OWNER_URL": "", "DATABASE_CONSOLE_URL": "console"}
"""URLs that every process demands, with the kind of the processes that get the password and can log in."""

KEYS_OF_BUCKET = frozenset({"S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"})
WITHOUT_BUCKET = frozenset({"relay", "webhooks"})
"""Processes that touch no object."""

HUNG_SECONDS = 60
"""Seconds without an answer after which a process of the API counts as hung."""

MALLOC_ARENAS = 2
"""Maximum arenas of glibc's allocator. By default glibc gives each thread one, up to 8 per core, and new threads handle
a segment's pictures: a worker's memory then grows by a third over its first hours of video (make bench-index
ONLY=pipeline_peak_memory)."""

WORKERS = (
    Worker("worker-probe", ("cpu.probe",), 2),
    # These wait for other servers most of the time, so threads of one process do.
    Worker("worker-fetch", ("io.fetch",), 8, pool="threads"),
    Worker("worker-delete", ("system.delete",), 4, pool="threads"),
    Worker("worker-sweep", ("system.sweep",), 2, pool="threads"),
    Worker("worker-render", ("cpu.render",), 2, niceness=15),
    # A question that somebody waits for goes before an index that grows in the background.
    # One thread per process: segments in parallel use the cores better than parallel kernels do.
    Worker("worker-index", ("gpu.index",), min(2, os.cpu_count() or 1), niceness=10, threads=1),
    Worker("worker-query", ("gpu.query",), 1),
)
"""One worker per class of jobs, so that a slow peer of one class never delays the jobs of another class."""


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}{at}{host}"))


def worker_process(worker: Worker, signer_port: int | None) -> AppProcess:
    """Return the command of one Celery worker. signer_port: of the signer on this machine."""
    arguments = [sys.executable, "-m", "celery", "--quiet", "-A", "workers.app", "worker", "--loglevel=INFO"]
    arguments += [f"--hostname={worker.name}@%h", f"--queues={','.join(worker.queues)}"]
    arguments += [
        f"--concurrency={worker.concurrency}",
        f"--pool={worker.pool}",
        "--without-gossip",
        "--without-mingle",
    ]
    if worker.niceness:
        arguments = ["nice", f"-n{worker.niceness}", *arguments]
    env: tuple[tuple[str, str], ...] = (("MALLOC_ARENA_MAX", str(MALLOC_ARENAS)),)
    if worker.threads is not None:
        limits = ("OMP_NUM_THREADS", "OPENCV_FOR_THREADS_NUM", "AVA_TORCH_THREADS")
        env += tuple((name, str(worker.threads)) for name in limits)
    signer_key = SIGNER_KEYS.get(worker.queues[0], "") if signer_port is not None else ""
    if signer_key:
        env += (("AVA_SIGNER_URL", f"http://127.0.0.1:{signer_port}/"),)
    return AppProcess(
        worker.name,
        tuple(arguments),
        ready_line=" ready.",
        env=env,
        signer_key=signer_key,
        waiting_line="models are not ready",
    )


def app_processes(
    api_port: int, console_port: int | None = None, *, signer_port: int | None = None
) -> tuple[AppProcess, ...]:
    """Return all processes that run on top of the servers, in the order of starting. Without a port for it, there is no
    console. Without a signer, the workers have the key of the bucket themselves."""
    api = [sys.executable, "manage.py", "guarded", sys.executable, "-m", "uvicorn", "backend.asgi:application"]
    api += ["--host=127.0.0.1", f"--port={api_port}"]
    api += ["--workers=2", "--lifespan=on", "--no-server-header", "--timeout-graceful-shutdown=10"]
    # By default uvicorn kills a worker that answers no ping for 5 s. On a host at its limit that is every worker.
    api += [f"--timeout-worker-healthcheck={HUNG_SECONDS}"]
    api += ["--http=backend.api.server.connections:BoundedConnection"]
    api += [f"--log-config={ROOT / 'backend' / 'observability' / 'uvicorn_log.json'}"]
    console = [
        argument.replace(f"--port={api_port}", f"--port={console_port}").replace("--workers=2", "--workers=1")
        for argument in api
    ]
    # Its own probes and metrics are not asked for here.
    site = (("AVA_CONSOLE_URL", f"http://127.0.0.1:{console_port}"),)
    signer = (sys.executable, "manage.py", "sign_objects", f"--port={signer_port}")
    return (
        AppProcess("api", tuple(api), restarted=False, kind="api"),
        *([AppProcess("console", tuple(console), env=site, kind="console")] if console_port is not None else []),
        AppProcess("relay", (sys.executable, "manage.py", "relay")),
        AppProcess("webhooks", (sys.executable, "manage.py", "send_webhooks"), kind="webhooks"),
        *([AppProcess("signer", signer, ready_line="signer ready", kind="signer")] if signer_port is not None else []),
        *(worker_process(worker, signer_port) for worker in WORKERS),
    )
