"""The Celery application, used only to wake workers: the work to do is in Postgres (backend.jobs)."""

from __future__ import annotations

import os
from importlib import import_module

import django
from celery import Celery
from celery.signals import worker_process_init
from kombu import Exchange, Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.settings")
django.setup()

from django.conf import settings  # noqa: E402 - after django.setup()

from backend.jobs.models import QUEUE_OF  # noqa: E402

RUN_JOB = "workers.tasks.run_job"

app = Celery("ava", broker=settings.REDIS_URL, include=["workers.tasks"])
app.conf.update(
    # Each queue has its own exchange: on a shared exchange every queue would get a copy of every message.
    task_queues=[Queue(name, Exchange(name), routing_key=name) for name in sorted(set(QUEUE_OF.values()))],
    task_default_queue="system",
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    worker_prefetch_multiplier=1,
    worker_cancel_long_running_tasks_on_connection_loss=True,
    worker_soft_shutdown_timeout=10,
    worker_hijack_root_logger=False,
    task_serializer="json",
    accept_content=["json"],
    # A task longer than the visibility timeout would be delivered again while it runs. The claim makes this harmless;
    # a timeout above the longest segment makes it rare.
    broker_transport_options={"visibility_timeout": 900, "unacked_restore_interval": 5, "unacked_restore_throttle": 1},
    broker_connection_retry_on_startup=True,
    task_soft_time_limit=840,
    task_time_limit=870,
)


@worker_process_init.connect
def load_models(**_: object) -> None:
    """Load the models of this worker's queues before its first task, so that no question waits for weights."""
    queues = set(app.amqp.queues.consume_from)
    if not queues & {"gpu.index", "gpu.query"}:
        return
    # By name, as workers.runner loads handlers: the tasks stand above this package.
    models = import_module("gpu_workers.tasks.models")
    if "gpu.index" in queues:
        models.index_models()
    if "gpu.query" in queues:
        models.answer_models()
