"""The Celery application, used only to wake workers: the work to do is in Postgres (backend.jobs)."""

from __future__ import annotations

import logging
import os

import django
from celery import Celery
from celery.signals import (
    setup_logging,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutting_down,
)
from kombu import Exchange, Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.settings")
django.setup()
logging.captureWarnings(True)
# Bars are no log lines.
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")

from django.conf import settings  # noqa: E402 - after django.setup()

from backend.jobs.dispatching import CLASSES  # noqa: E402
from backend.observability import exposition, tracing  # noqa: E402
from backend.tenancy import guard  # noqa: E402
from gpu_workers.engine.indexing.box.session_weight import weigh_session_as_process  # noqa: E402
from workers.draining import DRAIN  # noqa: E402
from workers.liveness import Beat, state_folder  # noqa: E402
from workers.loading import prepare  # noqa: E402
from workers.metrics.process_gauges import ProcessGauges  # noqa: E402
from workers.pool import Consuming, Watch  # noqa: E402
from workers.runner import CLAIM_SECONDS  # noqa: E402

RUN_CLASS = "workers.tasks.run_class"
BROKER_REPLY_SECONDS = 10.0
"""Longest wait for a reply of the broker."""
LATE_SECONDS = settings.TASK_SECONDS + int(CLAIM_SECONDS)
"""Age from which a task is asked to end. Its last job began within CLAIM_SECONDS and may take TASK_SECONDS."""
TASK_LIMIT_SECONDS = LATE_SECONDS + min(30, settings.TASK_SECONDS)
"""Age at which a task's process is killed. Until then the task may end in order."""

app = Celery("ava", broker=settings.REDIS_URL, include=["workers.tasks"])
app.conf.update(
    # Each queue has its own exchange: on a shared exchange every queue would get a copy of every message.
    task_queues=[Queue(name, Exchange(name), routing_key=name) for name in CLASSES],
    task_default_queue="system.sweep",
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    worker_prefetch_multiplier=1,
    # A lost broker ends no work: the lease in Postgres decides who may commit, and a second delivery claims nothing.
    worker_cancel_long_running_tasks_on_connection_loss=False,
    # A child that replaces a dead one loads its models before it reports that it is up; by default it has 4 s.
    worker_proc_alive_timeout=settings.MODEL_LOAD_SECONDS + 60,
    # By default each task logs in to the database. The runner closes connections that are broken or old instead.
    CELERY_DB_REUSE_MAX=2**31,
    worker_hijack_root_logger=False,
    task_serializer="json",
    accept_content=["json"],
    # A task longer than the visibility timeout would be delivered again while it runs. The claim makes this harmless;
    # a timeout above the limit of a task makes it rare.
    broker_transport_options={
        "visibility_timeout": TASK_LIMIT_SECONDS + 30,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        # A broker's host that vanished sends no word: its connections must not hold the event loop. A reply to the
        # longest command comes within the second for which it waits.
        "socket_timeout": BROKER_REPLY_SECONDS,
        "socket_connect_timeout": BROKER_REPLY_SECONDS,
        "socket_keepalive": True,
    },
    broker_connection_retry_on_startup=True,
    # Whoever reaches the broker could otherwise stop all workers. Signals and manage.py drain stop them.
    worker_enable_remote_control=False,
    task_soft_time_limit=LATE_SECONDS,
    task_time_limit=TASK_LIMIT_SECONDS,
)


app.steps["worker"].add(Watch)
app.steps["consumer"].add(Consuming)


@setup_logging.connect
def keep_logging(**_: object) -> None:
    """Leave the log lines as Django's settings make them; without a receiver Celery adds handlers of its own."""


@worker_init.connect
def start_tracing(**_: object) -> None:
    guard.demand()
    weigh_session_as_process()
    tracing.start("ava-worker")


@worker_ready.connect
def serve_metrics(**_: object) -> None:
    """Answer for all processes of this worker, from the one that runs no task."""
    exposition.serve(ProcessGauges())
    guard.Watch().start()


@worker_process_shutdown.connect
def flush_traces(**_: object) -> None:
    tracing.flush()


@worker_process_init.connect
def load_models(**_: object) -> None:
    """Load the models of this worker's queues before its first task, so that no question waits for weights."""
    prepare(app.amqp.queues.consume_from, Beat(state_folder()))


@worker_shutting_down.connect
def drain(**_: object) -> None:
    """Stop claiming at SIGTERM. Celery then waits for the tasks that run, and each ends in time (workers.runner)."""
    DRAIN.begin(settings.DRAIN_SECONDS)
