"""Celery's boot steps of a worker: wait for the models of its children, watch over them, show that it consumes."""

from __future__ import annotations

import logging
import os
import select
import signal
import socket
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from typing import Any, NoReturn

from celery import bootsteps
from celery.worker import state as celery_state
from django.conf import settings

from workers import liveness
from workers.draining import DRAIN
from workers.liveness import FAILED, LOADING, READY, Beat, ChildState, WorkerState
from workers.loading import prepare
from workers.metrics.fleet import report_for_ever

logger = logging.getLogger("ava.workers")

WATCH_SECONDS = 2.0
_POLL_SECONDS = 0.1
_JOIN_SECONDS = 5.0
LAST_TASKS_SECONDS = 120.0
"""Longest time for which a worker that gives up waits for the tasks of its other children."""


class Watch(bootsteps.StartStopStep):
    """Waits until the models are loaded, and then publishes the state of the children for workers.health.

    A worker whose models cannot be loaded exits with status 1, at its start or when a child is replaced: whoever runs
    the worker starts it again and shows that it does not come up. In a pool of threads this process is the only child.
    """

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._folder = liveness.state_folder()
        self._forked_at = time.monotonic()
        self.consumed_at = time.monotonic()

    def start(self, parent: Any) -> None:
        self._pool = parent.pool
        self._forks = getattr(self._pool, "_pool", None) is not None
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        liveness.forget_dead(self._folder)
        liveness.drain_file(self._folder, os.getpid()).unlink(missing_ok=True)
        parent.ava_watch = self
        threading.Thread(target=self._publish_for_ever, name="watch", daemon=True).start()
        queues = sorted(parent.app.amqp.queues.consume_from)
        report_for_ever(parent.hostname, queues, lambda: self._state(self._children()))
        if self._processes() is None:
            prepare(parent.app.amqp.queues.consume_from, Beat(self._folder), wait=self._wait)
            return
        while not self._are_up():
            self._wait(_POLL_SECONDS)

    def _wait(self, seconds: float) -> None:
        """Sleep while models are loaded or waited for. Ends the process if it is asked to stop meanwhile: Celery looks
        for that only once it consumes."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _POLL_SECONDS))
            try:
                celery_state.maybe_shutdown()
            except SystemExit:
                logger.info("the worker stops before it was ready")
                self._leave(0)

    def _processes(self) -> list[Any] | None:
        """Return the child processes of the pool; None for a pool of threads."""
        if not self._forks:
            return None
        # A pool that has ended, because the worker stops, is let go by Celery.
        pool = self._pool._pool
        return [] if pool is None else list(pool._pool)

    def _children(self) -> tuple[ChildState, ...]:
        processes = self._processes()
        pids = [os.getpid()] if processes is None else [process.pid for process in processes if process.pid]
        return liveness.states_of(self._folder, pids, forked_at=self._forked_at)

    def _are_up(self) -> bool:
        """Whether every first child has loaded its models. A child that waits for a model server has not, and holds the
        worker's start. Ends the process if a child cannot load them."""
        for process in self._processes() or []:
            if not process.is_alive():
                logger.critical("process %s died with status %s while it loaded", process.pid, process.exitcode)
                self._leave(1)
        children = self._children()
        reason = self._hopeless(children)
        if reason:
            logger.critical("the worker stops: %s", reason)
            self._leave(1)
        return all(child.state == READY for child in children)

    def _hopeless(self, children: tuple[ChildState, ...]) -> str:
        for child in children:
            if child.state == FAILED:
                return f"process {child.pid} cannot load its models: {child.detail}"
            if child.state == LOADING and time.monotonic() - child.since > settings.MODEL_LOAD_SECONDS:
                return f"process {child.pid} has loaded its models for more than {settings.MODEL_LOAD_SECONDS} s"
        return ""

    def _leave(self, status: int) -> NoReturn:
        """End the process and its children. The pool cannot be closed in order: its children never took part in it."""
        children = self._processes() or []
        for process in children:
            # They hold no task, and one that loads would not hear a gentler signal.
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        for process in children:
            process.join(_JOIN_SECONDS)
        logging.shutdown()
        os._exit(status)

    def _state(self, children: tuple[ChildState, ...]) -> WorkerState:
        return WorkerState(
            os.getpid(), time.monotonic(), self.consumed_at, settings.MODEL_LOAD_SECONDS, children, DRAIN.is_on()
        )

    def _publish_for_ever(self) -> None:
        while True:
            until = liveness.asked_to_drain(self._folder, os.getpid())
            if until is not None:
                DRAIN.begin(until - time.monotonic())
            children = self._children()
            liveness.write(liveness.worker_file(self._folder, os.getpid()), asdict(self._state(children)))
            reason = self._hopeless(children)
            if reason and not _stops():
                logger.critical("the worker stops: %s", reason)
                # A warm shutdown: the other children finish their tasks first, or hand them back.
                DRAIN.begin(settings.DRAIN_SECONDS)
                setattr(celery_state, "should_stop", 1)  # noqa: B010 - Celery declares it as None only
                threading.Timer(LAST_TASKS_SECONDS, os._exit, (1,)).start()
            time.sleep(WATCH_SECONDS)


def _stops() -> bool:
    """Whether this worker was asked to stop: Celery keeps the exit status then, which may be 0."""
    return celery_state.should_stop is not None and celery_state.should_stop is not False


class Consuming(bootsteps.StartStopStep):
    """Notes that the consumer's event loop turns, and lets it take no more bells once the worker drains.

    It also ends a connection to the broker whose state is wrong, so that Celery makes a new one. Celery only logs an
    acknowledgement that fails, and takes no message in the place of one that it still counts as held. And while it
    holds as many as it may, nobody reads from the connection, so nobody notices its end: the event loop spins.
    """

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._timer: Any = None
        self._held_too_many = False

    def start(self, parent: Any) -> None:
        self._held_too_many = False
        watch: Watch = parent.controller.ava_watch

        def turned() -> None:
            watch.consumed_at = time.monotonic()
            if DRAIN.is_on():
                # The bells are for the other workers.
                for queue in list(parent.app.amqp.queues.consume_from):
                    parent.cancel_task_queue(queue)
            self._check(parent.task_consumer.channel)

        turned()
        self._timer = parent.timer.call_repeatedly(WATCH_SECONDS, turned)

    def _check(self, channel: Any) -> None:
        """Raise ConnectionError if the broker has closed the connection, or if messages without a task are held."""
        connection = getattr(channel.client, "connection", None)
        own = connection._sock if connection is not None else None
        if own is not None and not channel._in_poll and _ended(own):
            raise ConnectionError("the broker has closed the connection")
        held = len(channel.qos._delivered) - len(channel.qos._dirty)
        too_many = held > len(celery_state.reserved_requests)
        # Twice, because a task of a pool of threads ends while this counts.
        if too_many and self._held_too_many:
            raise ConnectionError("the broker was not told about the end of a task")
        self._held_too_many = too_many

    def stop(self, parent: Any) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _ended(connection: socket.socket) -> bool:
    """Whether the other side has ended a connection on which no reply is awaited."""
    # Not select(), which takes no descriptor above 1,023.
    looks = select.poll()
    looks.register(connection, select.POLLRDHUP)
    return bool(looks.poll(0))
