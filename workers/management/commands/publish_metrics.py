"""Publishes what groups of machines are scaled by, once a minute: late and running jobs, requests at model servers."""

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
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from redis.exceptions import RedisError

from backend.jobs.commits import DATABASE_AWAY
from backend.tenancy import guard
from workers.liveness import BEAT_SECONDS, Passes, state_folder
from workers.metrics.queue_metrics import connect_broker, publish_queue_ages
from workers.metrics.server_metrics import configured_servers, publish_server_loads

logger = logging.getLogger("ava.metrics")

METRIC_SECONDS = 60.0


class Command(BaseCommand):
    help = "Publish the loads of queues and model servers to CloudWatch once a minute; runs until SIGTERM."

    def handle(self, *args: Any, **options: Any) -> None:
        namespace = settings.CLOUDWATCH_NAMESPACE
        if not namespace:
            raise CommandError("Set AVA_CLOUDWATCH_NAMESPACE to the namespace of the metrics.")
        guard.demand(using="dispatch")
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        guard.Watch(using="dispatch").start()
        self.stdout.write("metrics ready")
        passes, broker = Passes(state_folder()), connect_broker()
        servers, next_metric = configured_servers(), 0.0
        # In a thread of its own: a model server that does not answer never holds the metrics of the queues back.
        reader = ThreadPoolExecutor(1, thread_name_prefix="server-loads")
        reading: Future[None] | None = None
        while True:
            if time.monotonic() >= next_metric:
                next_metric = time.monotonic() + METRIC_SECONDS
                if reading is None or reading.done():
                    reading = reader.submit(publish_server_loads, namespace, servers)
                _publish_queues(namespace, broker)
            # Its container is well as long as this loop turns: a restart mends no CloudWatch that is away.
            passes.record()
            if stop.wait(BEAT_SECONDS):
                return


def _publish_queues(namespace: str, broker: redis.Redis) -> None:
    try:
        publish_queue_ages(namespace, broker)
    except DATABASE_AWAY:
        logger.exception("database away, the next metrics follow in a minute")
        connections.close_all()
    except (BotoCoreError, ClientError, RedisError, OSError):
        logger.exception("metrics of the queues could not be published")
