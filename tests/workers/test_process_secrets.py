"""A process starts with the secrets that it uses, reads no others, and does not start without its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from backend.env import SIGNER_KEYS
from infra.local.app_processes import WORKERS, AppProcess, Worker, worker_process
from tests.workers.worker_process import PATIENCE_S, PROJECT

OWN = (
    "AVA_SECRET_KEY", "AVA_CONSOLE_SECRET_KEY", "AVA_KEY_PEPPERS", "AVA_ENCRYPTION_KEYS", "AVA_CACHE_SALT_KEY",
    "AVA_SIGNER_KEY",
)  # fmt: skip
OF_CLASSES = {name: f"secret of {queue}" for queue, name in SIGNER_KEYS.items()}
EVERY = {"AVA_SECRET_KEY": "s", "AVA_CONSOLE_SECRET_KEY": "c", "AVA_KEY_PEPPERS": "1:p", "AVA_ENCRYPTION_KEYS": "1:e"}
MEDIA = [worker for worker in WORKERS if worker.queues[0] in ("cpu.probe", "cpu.render", "io.fetch")]
"""Two classes that read media and load no models."""
SHOW = """
import json
from django.conf import settings
settings.PROCESS  # reads them all, as the first step of each start
read = settings._wrapped  # SECRET_KEY of `settings` itself refuses to be empty
print(json.dumps([read.SECRET_KEY, read.KEY_PEPPERS, read.ENCRYPTION_KEYS, read.CACHE_SALT_KEY]))
"""


def started(process: str, *, show: str = SHOW, **secrets: str) -> subprocess.CompletedProcess[str]:
    """Run show in an interpreter of its own, by default to read the settings: the rest of a start takes longer."""
    environment = {name: value for name, value in os.environ.items() if name not in OWN}
    environment |= {"AVA_PROCESS": process, "DJANGO_SETTINGS_MODULE": "backend.settings", **secrets}
    return subprocess.run([sys.executable, "-c", show], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("process", "given", "read"), [
    ("worker", {"AVA_CACHE_SALT_KEY": "salt"}, ["", {}, {}, "salt"]),
    ("worker", {"AVA_CACHE_SALT_KEY": "salt", "AVA_KEY_PEPPERS": "1:p", "AVA_SECRET_KEY": "s"}, ["", {}, {}, "salt"]),
    ("signer", OF_CLASSES, ["", {}, {}, ""]),
    ("webhooks", {"AVA_ENCRYPTION_KEYS": "1:e"}, ["", {}, {"1": "e"}, ""]),
    ("api", {"AVA_SECRET_KEY": "s", "AVA_KEY_PEPPERS": "1:p", "AVA_ENCRYPTION_KEYS": "1:e"},
     ["s", {"1": "p"}, {"1": "e"}, "s"]),
    ("api", {"AVA_SECRET_KEY": "s", "AVA_CONSOLE_SECRET_KEY": "c", "AVA_KEY_PEPPERS": "1:p",
             "AVA_ENCRYPTION_KEYS": "1:e"}, ["s", {"1": "p"}, {"1": "e"}, "s"]),
    ("console", {"AVA_SECRET_KEY": "s", "AVA_CONSOLE_SECRET_KEY": "c", "AVA_KEY_PEPPERS": "1:p",
                 "AVA_ENCRYPTION_KEYS": "1:e"}, ["c", {"1": "p"}, {"1": "e"}, "c"]),
])  # fmt: skip
def test_each_process_reads_its_own_secrets(process: str, given: dict[str, str], read: list[object]) -> None:
    done = started(process, **given)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == read


@pytest.mark.parametrize(("process", "given", "missing"), [
    ("worker", {"AVA_SECRET_KEY": "s", "AVA_KEY_PEPPERS": "1:p"}, "AVA_CACHE_SALT_KEY"),
    ("worker", {"AVA_CACHE_SALT_KEY": "salt", "AVA_SIGNER_URL": "http://signer:8400/"}, "AVA_SIGNER_KEY"),
    ("signer", {"AVA_SIGNER_KEY": "k"}, "AVA_SIGNER_KEY_PROBE"),
    ("signer", {**OF_CLASSES, "AVA_SIGNER_KEY_QUERY": ""}, "AVA_SIGNER_KEY_QUERY each need a secret of their own"),
    ("signer", {**OF_CLASSES, "AVA_SIGNER_KEY_QUERY": "secret of gpu.index"}, "each need a secret of their own"),
    ("webhooks", {"AVA_CACHE_SALT_KEY": "salt"}, "AVA_ENCRYPTION_KEYS"),
    ("api", {"AVA_SECRET_KEY": "s", "AVA_ENCRYPTION_KEYS": "1:e"}, "AVA_KEY_PEPPERS"),
    ("console", {"AVA_CONSOLE_SECRET_KEY": "s", "AVA_ENCRYPTION_KEYS": "1:e"}, "AVA_KEY_PEPPERS"),
    ("api", {"AVA_CONSOLE_SECRET_KEY": "s", "AVA_KEY_PEPPERS": "1:p", "AVA_ENCRYPTION_KEYS": "1:e"}, "AVA_SECRET_KEY"),
    ("console", {"AVA_SECRET_KEY": "s", "AVA_KEY_PEPPERS": "1:p", "AVA_ENCRYPTION_KEYS": "1:e"},
     "AVA_CONSOLE_SECRET_KEY"),
    ("relay", {}, "AVA_PROCESS"),
])  # fmt: skip
def test_a_process_without_its_secrets_does_not_start(process: str, given: dict[str, str], missing: str) -> None:
    done = started(process, **given)
    assert done.returncode == 1
    assert re.search(rf"{missing}( is|$)", done.stderr, flags=re.M)


CHORES = """
import django
django.setup()
from backend.api.monitoring import chores
print(*(chore.__name__ for chore in chores.registered()))
"""


@pytest.mark.parametrize(("process", "done"), [("api", "erase_departed"), ("console", "")])
def test_only_the_api_has_the_role_for_chores(process: str, done: str) -> None:
    assert started(process, show=CHORES, **EVERY).stdout == f"{done}\n"


SIGN = """
import django, sys
django.setup()
from django.core import signing
from django.contrib.auth.tokens import default_token_generator
from backend.erasure.services.tickets import tenant_of, ticket_of
from backend.people.models import Person
ada = Person(id="0190f0b0-0000-7000-8000-000000000001", email="ada@example.org", password="a hash")
print(signing.dumps("ada", salt="a session"), default_token_generator.make_token(ada), ticket_of(ada.id), flush=True)
for line in sys.stdin:
    session, reset, ticket = line.split()
    accepted = ["reset"] if default_token_generator.check_token(ada, reset) else []
    accepted += ["ticket"] if tenant_of(ticket) else []
    try:
        signing.loads(session, salt="a session")
        accepted.append("session")
    except signing.BadSignature:
        pass
    print("accepted:", *accepted, flush=True)
"""


@contextmanager
def signing(process: str) -> Iterator[subprocess.Popen[str]]:
    """Run a process that prints what it signs, then for each line of signatures which of these it accepts."""
    environment = {**os.environ, "AVA_PROCESS": process, "DJANGO_SETTINGS_MODULE": "backend.settings"}
    with subprocess.Popen(
        [sys.executable, "-c", SIGN], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def test_the_api_and_the_console_accept_no_signature_of_each_other() -> None:
    def asked(process: subprocess.Popen[str], line: str) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line)
        process.stdin.flush()
        return process.stdout.readline()

    with signing("api") as api, signing("console") as console:
        assert api.stdout is not None
        assert console.stdout is not None
        of_api, of_console = api.stdout.readline(), console.stdout.readline()
        all_accepted = "accepted: reset ticket session\n"
        assert (asked(api, of_api), asked(console, of_console)) == (all_accepted, all_accepted)
        assert (asked(api, of_console), asked(console, of_api)) == ("accepted:\n", "accepted:\n")


def given_to_the_stack() -> dict[str, str]:
    """Return the environment of the local stack's supervisor, with each secret once and recognisable."""
    given = {name: value for name, value in os.environ.items() if name not in (*OWN, "DATABASE_SUPERUSER_URL")}
    given |= {name: f"the {name} of a test" for name in (*OWN, *SIGNER_KEYS.values()) if name != "AVA_SIGNER_KEY"}
    return given | {"AVA_KEY_PEPPERS": "1:the AVA_KEY_PEPPERS", "AVA_ENCRYPTION_KEYS": "1:the AVA_ENCRYPTION_KEYS"}


def passwords(given: dict[str, str], *names: str) -> set[str]:
    return {str(urlsplit(given[name]).password) for name in names}


@contextmanager
def running(process: AppProcess, given: dict[str, str], shown: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a worker as the local stack does, and wait until it has shown its settings."""
    command = [word.replace("workers.app", "tests.workers.shown_settings") for word in process.arguments]
    environment = process.environment(given) | {"SHOWN": str(shown), "AVA_WORKER_STATE": str(shown.parent / "state")}
    log = shown.with_suffix(".log")
    with log.open("wb") as lines:
        worker = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=lines, stderr=lines)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not shown.exists():
            assert time.monotonic() < deadline, log.read_text()[-4000:]
            assert worker.poll() is None, log.read_text()[-4000:]
            time.sleep(0.1)
        yield worker
    finally:
        worker.terminate()
        worker.wait(PATIENCE_S)


def family(pid: int) -> list[int]:
    """Return a process and those that it started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in family(int(child)))]


@pytest.mark.parametrize("worker", MEDIA, ids=lambda each: each.name)
def test_a_real_worker_that_reads_media_holds_no_secret_of_others(
    database: None, tmp_path: Path, worker: Worker
) -> None:
    given = given_to_the_stack()
    own = given[SIGNER_KEYS[worker.queues[0]]]
    roles = passwords(
        given, "DATABASE_OWNER_URL", "DATABASE_CONSOLE_URL", "DATABASE_PEOPLE_URL", "DATABASE_STAFF_URL"
    ) | passwords({**os.environ}, "DATABASE_SUPERUSER_URL")
    others = {given[name] for name in ("S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY", "AVA_SECRET_KEY")}
    others |= {given[name] for name in SIGNER_KEYS.values()} - {own}
    others |= {"the AVA_KEY_PEPPERS", "the AVA_ENCRYPTION_KEYS", *roles}
    assert not [secret for secret in others if len(secret) < 8]

    shown = tmp_path / "settings.json"
    with running(worker_process(worker, signer_port=9), given, shown) as process:
        environments = {pid: Path(f"/proc/{pid}/environ").read_bytes().decode() for pid in family(process.pid)}
    settings = shown.read_text()
    assert own in settings
    assert passwords(given, "DATABASE_URL") & set(re.findall(r"[\w-]+", settings))
    assert [secret for secret in others if secret in settings] == []
    assert all("AVA_SIGNER_KEY=" in environment for environment in environments.values())
    assert [(pid, secret) for pid, held in environments.items() for secret in others if secret in held] == []
