"""Two relay processes share the outbox: every wake-up reaches the broker, and none twice."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from uuid import uuid4

import redis
from django.conf import settings

from backend.jobs import services
from backend.jobs.models import JobKind, Outbox
from tests.conftest import Cast

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
