"""The relay: rings for each class of jobs that has work, and lets jobs run whose time has come."""

from __future__ import annotations

import logging
import signal
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import redis
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import OperationalError, connections
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from backend.jobs.dispatching import CLASSES, SELF_CLAIMED, mark_due, runnable
from backend.library.services.upload_expiry import expire_uploads
from workers.app import RUN_CLASS, app
from workers.liveness import Passes, state_folder
from workers.queue_metrics import publish_queue_ages
from workers.server_metrics import configured_servers, publish_server_loads

logger = logging.getLogger("ava.relay")

POLL_SECONDS = 0.1
SWEEP_SECONDS = 300.0
METRIC_SECONDS = 60.0
BROKER_AWAY = (KombuError, RedisError, OSError)
METRICS_AWAY = (BotoCoreError, ClientError)
BROKER_SECONDS = 5.0
RUNG = tuple(queue for queue in CLASSES if queue not in SELF_CLAIMED)
MOST_BELLS = 32
"""Maximum number of messages per class in the broker. A worker that finds nothing to claim has lost a millisecond."""


class Command(BaseCommand):
    help = "Ring the workers for each class of jobs that has work; runs until SIGTERM."

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        self.stdout.write("relay ready")
        passes, bells = Passes(state_folder()), Bells()
        next_sweep = next_metric = 0.0
        servers = configured_servers() if settings.CLOUDWATCH_NAMESPACE else []
        # In a thread of its own: a model server that does not answer never holds a bell back.
        reader = ThreadPoolExecutor(1, thread_name_prefix="server-loads")
        reading: Future[None] | None = None
        while not stop.wait(POLL_SECONDS):
            try:
                mark_due()
                bells.ring()
                now = time.monotonic()
                if now >= next_sweep:
                    next_sweep = now + SWEEP_SECONDS
                    expire_uploads()
                if settings.CLOUDWATCH_NAMESPACE and now >= next_metric:
                    next_metric = now + METRIC_SECONDS
                    if reading is None or reading.done():
                        reading = reader.submit(publish_server_loads, settings.CLOUDWATCH_NAMESPACE, servers)
                    publish_queue_ages(settings.CLOUDWATCH_NAMESPACE)
            except OperationalError:
                # The database restarts or fails over: the jobs wait in it.
                logger.exception("database away, trying again")
                connections.close_all()
                stop.wait(1.0)
            except BROKER_AWAY:
                logger.exception("broker away, the jobs wait in the database")
                stop.wait(1.0)
            except METRICS_AWAY:
                logger.exception("metrics of the queues could not be published")
            else:
                passes.record()


class Bells:
    """The bells in the broker: at most MOST_BELLS messages per class, whatever waits in the queue."""

    def __init__(self) -> None:
        self._broker = redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=BROKER_SECONDS, socket_connect_timeout=BROKER_SECONDS
        )

    def ring(self) -> int:
        """Ring for every class as often as it has jobs that may run, less the bells that lie there. Returns how often
        it rang."""
        rung = 0
        for queue, waiting in runnable(*RUNG, most=MOST_BELLS).items():
            missing = min(MOST_BELLS, waiting) - int(self._broker.llen(queue)) if waiting else 0
            for _ in range(missing):
                app.send_task(RUN_CLASS, args=[queue], queue=queue, retry=False)
                rung += 1
        return rung
