"""Relays ring as often as workers can use, whatever waits. One whose passes fail is unhealthy."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import pytest
import redis
from django.conf import settings

from backend.api.monitoring.fleet_reports import RELAYS, reports
from backend.jobs import services
from backend.jobs.dispatching import CLASSES
from backend.jobs.models import JobKind, QueueAge
from tests.conftest import Cast
from workers.liveness import STALE_SECONDS, RelayState, relay_file
from workers.management.commands.relay import MOST_BELLS

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120
JOBS = 1_000
QUEUE = "system.delete"
LOSING_RELAY = """
import django
django.setup()
from django.core.management import call_command
from tests.lost_connection import lose_connection
from workers.management.commands import relay

mark_due, passes = relay.mark_due, []

def lose_once():
    passes.append(len(passes))
    if len(passes) == 2:
        lose_connection("dispatch")
    return mark_due()

relay.mark_due = lose_once
call_command("relay")
"""


def bells(broker: redis.Redis) -> list[str]:
    """Return the classes for which bells lie in the broker."""
    bodies = [json.loads(base64.b64decode(json.loads(message)["body"])) for message in broker.lrange(QUEUE, 0, -1)]
    return [arguments[0] for arguments, *_ in bodies]


@pytest.mark.long
def test_bells_are_few_whatever_waits_and_come_back_when_the_broker_forgets(acme: Cast, tmp_path: Path) -> None:
    with acme.scope():
        services.enqueue_many(kind=JobKind.PURGE_VIDEO, subjects={f"purge:{uuid4()}": uuid4() for _ in range(JOBS)})
    logs = [tmp_path / f"relay-{number}.log" for number in range(2)]
    relays = []
    with redis.Redis.from_url(settings.REDIS_URL) as broker:
        broker.delete(QUEUE)
        try:
            for log in logs:
                with log.open("wb") as out:
                    relay = subprocess.Popen(
                        [sys.executable, "manage.py", "relay"], cwd=PROJECT, env=os.environ, stdout=out, stderr=out
                    )
                relays.append(relay)
            for turn in range(3):
                if turn == 2:
                    # Suspended in the middle of a pass: it holds nothing that the other one needs.
                    relays[0].send_signal(signal.SIGSTOP)
                deadline = time.monotonic() + PATIENCE_S
                while broker.llen(QUEUE) < MOST_BELLS:
                    assert time.monotonic() < deadline, [log.read_text()[-2000:] for log in logs]
                    time.sleep(0.05)
                time.sleep(1.0)
                # Two relays that look at the same moment may both ring.
                assert MOST_BELLS <= broker.llen(QUEUE) <= 2 * MOST_BELLS
                assert set(bells(broker)) == {QUEUE}
                broker.delete(QUEUE)
        finally:
            for relay in relays:
                relay.send_signal(signal.SIGCONT)
                relay.send_signal(signal.SIGTERM)
            for relay in relays:
                relay.wait(timeout=PATIENCE_S)
            broker.delete(QUEUE)
    assert [relay.returncode for relay in relays] == [0, 0]


def test_a_relay_that_loses_the_database_rings_again(acme: Cast, tmp_path: Path) -> None:
    with acme.scope():
        services.enqueue_many(kind=JobKind.PURGE_VIDEO, subjects={f"purge:{uuid4()}": uuid4()})
    log = tmp_path / "relay.log"

    def wait(condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert relay.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < deadline, log.read_text()[-2000:]
            time.sleep(0.05)

    with redis.Redis.from_url(settings.REDIS_URL) as broker, log.open("wb") as out:
        broker.delete(QUEUE)
        relay = subprocess.Popen(
            [sys.executable, "-c", LOSING_RELAY], cwd=PROJECT, env=os.environ, stdout=out, stderr=out
        )
        try:
            wait(lambda: b"database away" in log.read_bytes())
            broker.delete(QUEUE)
            wait(lambda: broker.llen(QUEUE))
        finally:
            relay.send_signal(signal.SIGTERM)
            relay.wait(timeout=PATIENCE_S)
            broker.delete(QUEUE)
    assert relay.returncode == 0


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
            ages = QueueAge.objects.using("dispatch")
            assert set(ages.values_list("queue", flat=True)) == set(CLASSES), "also while the broker is away"
            broker.acl_setuser(user, commands=["+lpush"], enabled=True)
            wait(state.exists, "no pass succeeds")
            assert health() == (0, "")
            wait(lambda: broker.llen(QUEUE) > 0, "no bell rings")
            mine = f":{relay.pid}"
            assert [row["stale"] for row in reports(RELAYS) if row["name"].endswith(mine)] == [False]
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
