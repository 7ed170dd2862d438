"""Relays share the outbox: every wake-up reaches the broker, and none twice. One whose passes fail is unhealthy."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import redis
from django.conf import settings

from backend.jobs import services
from backend.jobs.models import JobKind, Outbox
from tests.conftest import Cast
from workers.liveness import STALE_SECONDS, RelayState, relay_file

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120
JOBS = 1_000
QUEUE = "system"


def published(broker: redis.Redis) -> Counter[str]:
    """Return how often each job's wake-up lies in the broker."""
    messages = [message for key in broker.keys(f"{QUEUE}*") for message in broker.lrange(key, 0, -1)]
    bodies = [json.loads(base64.b64decode(json.loads(message)["body"])) for message in messages]
    return Counter(arguments[0] for arguments, *_ in bodies)


def test_two_relays_deliver_every_wakeup_once(acme: Cast, tmp_path: Path) -> None:
    subjects = {f"purge:{uuid4()}": uuid4() for _ in range(JOBS)}
    with acme.scope():
        services.enqueue_many(kind=JobKind.PURGE_VIDEO, subjects=subjects)
    wanted = {str(row.job_id) for row in Outbox.objects.using("dispatch").all()}
    assert len(wanted) == JOBS
    logs = [tmp_path / f"relay-{number}.log" for number in range(2)]
    relays = []
    with redis.Redis.from_url(settings.REDIS_URL) as broker:
        try:
            for log in logs:
                with log.open("wb") as out:
                    relay = subprocess.Popen(
                        [sys.executable, "manage.py", "relay"], cwd=PROJECT, env=os.environ, stdout=out, stderr=out
                    )
                relays.append(relay)
            deadline = time.monotonic() + PATIENCE_S
            while Outbox.objects.using("dispatch").exists() or any(b"ready" not in log.read_bytes() for log in logs):
                assert time.monotonic() < deadline, [log.read_text()[-2000:] for log in logs]
                time.sleep(0.1)
            found = published(broker)
        finally:
            for relay in relays:
                relay.send_signal(signal.SIGTERM)
            for relay in relays:
                relay.wait(timeout=PATIENCE_S)
            for key in broker.keys(f"{QUEUE}*"):
                broker.delete(key)
    assert set(found) == wanted
    assert set(found.values()) == {1}
    assert [relay.returncode for relay in relays] == [0, 0]


def test_a_relay_is_healthy_only_while_its_passes_succeed(acme: Cast, tmp_path: Path) -> None:
    with acme.scope():
        services.enqueue_many(kind=JobKind.PURGE_VIDEO, subjects={f"purge:{uuid4()}": uuid4()})
    parts, user = urlsplit(settings.REDIS_URL), f"relay-{uuid4().hex}"
    address = f"{user}:{user}@{parts.hostname}:{parts.port}"
    env = {
        **os.environ,
        "REDIS_URL": urlunsplit(parts._replace(netloc=address)),
        "AVA_WORKER_STATE": str(tmp_path / "state"),
    }
    log = tmp_path / "relay.log"

    def health() -> tuple[int, str]:
        command = [sys.executable, "-m", "workers.health", "--relay"]
        done = subprocess.run(command, cwd=PROJECT, env=env, capture_output=True, text=True)
        return done.returncode, done.stdout

    def wait(condition: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert relay.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < deadline, (what, log.read_text()[-2000:])
            time.sleep(0.1)

    with redis.Redis.from_url(settings.REDIS_URL) as broker, log.open("wb") as out:
        # A broker that answers PING and takes no message.
        broker.acl_setuser(
            user, enabled=True, passwords=[f"+{user}"], keys=["*"], channels=["*"], commands=["+@all", "-lpush"]
        )
        relay = subprocess.Popen([sys.executable, "manage.py", "relay"], cwd=PROJECT, env=env, stdout=out, stderr=out)
        state = relay_file(tmp_path / "state", relay.pid)
        try:
            wait(lambda: log.read_bytes().count(b"broker away") >= 2, "the relay reaches the broker")
            assert health() == (1, "no pass of a relay has succeeded here\n")
            broker.acl_setuser(user, commands=["+lpush"], enabled=True)
            wait(state.exists, "no pass succeeds")
            assert health() == (0, "")
            wait(lambda: not Outbox.objects.using("dispatch").exists(), "the wake-up is not published")
            passed = RelayState.read(state)
            assert passed is not None
            assert "has failed for 61 s" in passed.fault(passed.passed_at + STALE_SECONDS + 1)
            wait(lambda: RelayState.read(state) != passed, "passes are recorded once")
        finally:
            relay.send_signal(signal.SIGTERM)
            relay.wait(timeout=PATIENCE_S)
            broker.acl_deluser(user)
            for key in broker.keys(f"{QUEUE}*"):
                broker.delete(key)
    assert health() == (1, "no pass of a relay has succeeded here\n")
