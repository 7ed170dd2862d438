"""The relay: rings for each class of jobs that has work, and lets jobs and sweeps run whose time has come.

It speaks with PostgreSQL and the broker alone, both with time-outs. Any number of relays may run.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connections
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from backend.api.monitoring import fleet_reports
from backend.jobs.commits import DATABASE_AWAY
from backend.jobs.dispatching import CLASSES, SELF_CLAIMED, mark_due, runnable
from backend.jobs.queue_ages import record_ages
from backend.jobs.sweeps import queue_sweeps
from backend.observability import exposition
from backend.tenancy import guard
from workers.app import RUN_CLASS, app
from workers.liveness import Passes, state_folder
from workers.metrics.queue_gauges import QueueGauges
from workers.metrics.queue_metrics import BROKER_SECONDS, connect_broker, leave_sign
from workers.runner import owner

logger = logging.getLogger("ava.relay")

POLL_SECONDS = 0.1
SWEEP_SECONDS = 10.0
AGES_SECONDS = 60.0
"""Time between two records of the ages of the classes."""
BROKER_AWAY = (KombuError, RedisError, OSError)
RUNG = tuple(queue for queue in CLASSES if queue not in SELF_CLAIMED)
MOST_BELLS = 32
"""Maximum number of messages per class in the broker. A worker that finds nothing to claim has lost a millisecond."""


class Command(BaseCommand):
    help = "Ring the workers for each class of jobs that has work; runs until SIGTERM."

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        # A broker that takes the connection and answers nothing must not hold a pass for minutes.
        app.conf.broker_transport_options |= {
            "socket_timeout": BROKER_SECONDS,
            "socket_connect_timeout": BROKER_SECONDS,
        }
        guard.demand(using="dispatch")
        guard.Watch(using="dispatch").start()
        exposition.serve(QueueGauges())
        logger.info("relay ready")
        passes, bells = Passes(state_folder()), Bells()
        next_sweep = next_ages = 0.0
        name = owner(socket.gethostname(), os.getpid())
        while not stop.wait(POLL_SECONDS):
            try:
                mark_due()
                # Before the bells, because a queue stands still while the broker is away.
                if time.monotonic() >= next_ages:
                    next_ages = time.monotonic() + AGES_SECONDS
                    record_ages()
                bells.ring()
                if time.monotonic() >= next_sweep:
                    next_sweep = time.monotonic() + SWEEP_SECONDS
                    queue_sweeps()
                    bells.leave_sign()
                    # After a pass that has rung for all: without it no report says that bells are rung.
                    fleet_reports.publish(fleet_reports.RELAYS, name, {})
            except DATABASE_AWAY:
                # The database restarts or fails over: the jobs wait in it.
                logger.exception("database away, trying again")
                connections.close_all()
                stop.wait(1.0)
            except BROKER_AWAY:
                logger.exception("broker away, the jobs wait in the database")
                stop.wait(1.0)
            else:
                passes.record()


class Bells:
    """The bells in the broker: at most MOST_BELLS messages per class, whatever waits in the queue."""

    def __init__(self) -> None:
        self._broker = connect_broker()

    def leave_sign(self) -> None:
        leave_sign(self._broker)

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
