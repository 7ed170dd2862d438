"""The relay and reaper: outbox rows become Celery wake-ups, lost jobs are queued again."""

from __future__ import annotations

import logging
import signal
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import OperationalError, connections, transaction
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from backend.jobs import services
from backend.library.services.upload_expiry import expire_uploads
from workers.app import RUN_JOB, app
from workers.liveness import Passes, state_folder
from workers.queue_metrics import publish_queue_ages
from workers.server_metrics import configured_servers, publish_server_loads

logger = logging.getLogger("ava.relay")

POLL_SECONDS = 0.1
REAP_SECONDS = 2.0
SWEEP_SECONDS = 300.0
METRIC_SECONDS = 60.0
BROKER_AWAY = (KombuError, RedisError, OSError)
METRICS_AWAY = (BotoCoreError, ClientError)
# Age of a published wake-up after which a job that is still queued gets another.
STALE_AFTER = timedelta(seconds=60)


class Command(BaseCommand):
    help = "Publish wake-ups from the outbox and put lost jobs back; runs until SIGTERM."

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        self.stdout.write("relay ready")
        passes = Passes(state_folder())
        next_reap = next_sweep = next_metric = 0.0
        servers = configured_servers() if settings.CLOUDWATCH_NAMESPACE else []
        # In a thread of its own: a model server that does not answer never holds a wake-up back.
        reader = ThreadPoolExecutor(1, thread_name_prefix="server-loads")
        reading: Future[None] | None = None
        while not stop.wait(POLL_SECONDS):
            try:
                publish_due()
                now = time.monotonic()
                if now >= next_reap:
                    next_reap = now + REAP_SECONDS
                    revived = services.reap(stale_after=STALE_AFTER)
                    if revived:
                        logger.warning("reaper put %d wake-ups back", revived)
                if now >= next_sweep:
                    next_sweep = now + SWEEP_SECONDS
                    expire_uploads()
                if settings.CLOUDWATCH_NAMESPACE and now >= next_metric:
                    next_metric = now + METRIC_SECONDS
                    if reading is None or reading.done():
                        reading = reader.submit(publish_server_loads, settings.CLOUDWATCH_NAMESPACE, servers)
                    publish_queue_ages(settings.CLOUDWATCH_NAMESPACE)
            except OperationalError:
                # The database restarts or fails over: the outbox waits in it.
                logger.exception("database away, trying again")
                connections.close_all()
                stop.wait(1.0)
            except BROKER_AWAY:
                logger.exception("broker away, the outbox keeps its rows")
                stop.wait(1.0)
            except METRICS_AWAY:
                logger.exception("metrics of the queues could not be published")
            else:
                passes.record()


def broker_priority(job_priority: int) -> int:
    """Return a message's priority: a Redis broker keeps one list per step of three and serves the lowest step first."""
    return 0 if job_priority >= 10 else 3 if job_priority > 0 else 6 if job_priority == 0 else 9


def publish_due() -> int:
    """Hand due wake-ups to Celery and return their number; rows are deleted only once the broker has all of them."""
    with transaction.atomic(using="dispatch"):
        wakeups = services.take_due_wakeups()
        for wakeup in wakeups:
            app.send_task(
                RUN_JOB,
                args=[str(wakeup.job_id), str(wakeup.tenant_id)],
                queue=wakeup.queue,
                priority=broker_priority(wakeup.priority),
                retry=False,
            )
    return len(wakeups)
