"""The sender of webhooks: one process whose event loop holds hundreds of open requests, each under a lease of its own.

It claims the jobs of its class from PostgreSQL itself, so no bell rings for them. Statements run in a few threads; the
event loop waits for sockets only. A receiver that hangs costs one socket, and at most two of one endpoint.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeVar
from uuid import UUID

from django.conf import settings
from django.db import close_old_connections, connections, transaction
from django.utils import timezone

from backend.jobs import services
from backend.jobs.commits import DATABASE_AWAY
from backend.jobs.dispatching import claim_next, renew
from backend.jobs.models import QUEUE_OF, JobKind
from backend.jobs.services import JobFailed, Lease, LeaseLost
from backend.tenancy.context import tenant_scope
from workers.liveness import Passes
from workers.observed_job import LOST, RELEASED, ended, observed_job
from workers.webhooks import notice_mail, webhook_delivery

logger = logging.getLogger("ava.webhooks")

QUEUE = QUEUE_OF[JobKind.DELIVER_WEBHOOK]
POLL_SECONDS = 0.1
CLAIMS_AT_ONCE = 16
"""Maximum number of jobs claimed between two looks at the event loop."""
DATABASE_THREADS = 2
"""Threads that load and record attempts. One more claims and renews, and one mails. Each has its own connections."""
DRAIN_SECONDS = 4.0
"""Time for which a sender that stops waits for answers. It hands back what is still open."""
AWAY_SECONDS = 1.0
_CLAIM_LOCK = 0x5EBD0001
"""Key of the advisory lock under which senders claim one after another, so that no cap is passed."""
_TRY_LOCK = "SELECT pg_try_advisory_xact_lock(%s), set_config('idle_in_transaction_session_timeout', '5s', true)"

Result = TypeVar("Result")


@dataclass(slots=True)
class _Open:
    lease: Lease
    task: asyncio.Task[None]


class Sender:
    """Sends what its class has to send until stop(). sockets: maximum number of requests that are open at once."""

    def __init__(
        self, *, worker: str, sockets: int, passes: Passes | None = None, clock: Callable[[], datetime] = timezone.now
    ) -> None:
        self._worker = worker
        self._sockets = sockets
        self._passes = passes
        self._clock = clock
        self._stopping = asyncio.Event()
        self._open: dict[UUID, _Open] = {}
        self._claims = ThreadPoolExecutor(1, thread_name_prefix="claims")
        self._records = ThreadPoolExecutor(DATABASE_THREADS, thread_name_prefix="records")
        self._mails = ThreadPoolExecutor(1, thread_name_prefix="mails")

    def stop(self) -> None:
        """Claim nothing more, and end run() once what is open has ended or is handed back."""
        self._stopping.set()

    async def run(self) -> None:
        """Claim and send until stop() is called. A database that is away is waited for."""
        beat = asyncio.create_task(self._renew_for_ever())
        try:
            while not self._stopping.is_set():
                if beat.done():
                    # Without renewals every lease would run out: the process ends, and is started again.
                    beat.result()
                claimed = await self._claim()
                if self._passes is not None and claimed is not None:
                    self._passes.record()
                if not claimed:
                    await self._pause(AWAY_SECONDS if claimed is None else POLL_SECONDS)
            await self._drain()
        finally:
            beat.cancel()
            for threads, number in ((self._claims, 1), (self._records, DATABASE_THREADS), (self._mails, 1)):
                together = threading.Barrier(number)
                for _ in range(number):
                    threads.submit(_close_connections, together)
                threads.shutdown()

    async def _claim(self) -> int | None:
        """Claim and start what there is room for. Returns the number of jobs; None if the database is away."""
        room = min(CLAIMS_AT_ONCE, self._sockets - len(self._open))
        if room <= 0:
            return 0
        try:
            leases = await self._in(self._claims, partial(_claim_some, self._worker, room))
        except DATABASE_AWAY:
            logger.exception("database away, trying again")
            return None
        for lease in leases:
            task = asyncio.create_task(self._deliver(lease), name=f"webhook-{lease.job_id}")
            self._open[lease.job_id] = _Open(lease, task)
            task.add_done_callback(partial(self._forget, lease.job_id))
        return len(leases)

    def _forget(self, job_id: UUID, task: asyncio.Task[None]) -> None:
        # A job whose lease was lost may have come back to this sender while its old task went on.
        if job_id in self._open and self._open[job_id].task is task:
            del self._open[job_id]
        if not task.cancelled() and task.exception() is not None:
            logger.error("job %s: its lease runs out", job_id, exc_info=task.exception())

    async def _deliver(self, lease: Lease) -> None:
        with observed_job(lease):
            try:
                await self._attempt(lease)
            except asyncio.CancelledError:
                ended(RELEASED if self._stopping.is_set() else LOST)
                raise

    async def _attempt(self, lease: Lease) -> None:
        try:
            if lease.kind == JobKind.SEND_NOTICE:
                await self._in(self._mails, partial(notice_mail.send, lease))
                ended("succeeded")
                return
            outgoing = await self._recorded(partial(webhook_delivery.load, lease))
            if outgoing is not None:
                outcome = await webhook_delivery.send(outgoing, at=self._clock())
                await self._recorded(partial(webhook_delivery.record, lease, outgoing, outcome))
        except LeaseLost:
            await self._recorded(partial(_give_up, lease))
        except JobFailed as error:
            await self._failed(lease, error)
        except Exception as error:
            # An unforeseen error may be a passing fault of the machine: it is retried, and at last recorded.
            logger.exception("job %s failed", lease.job_id)
            await self._failed(lease, JobFailed("internal_error", f"unexpected {type(error).__name__}", retryable=True))

    async def _failed(self, lease: Lease, error: JobFailed) -> None:
        try:
            await self._recorded(partial(webhook_delivery.fail, lease, error))
        except LeaseLost:
            await self._recorded(partial(_give_up, lease))

    async def _recorded(self, write: Callable[[], Result]) -> Result:
        """Run a transaction under the lease's fence, and again if the database goes away meanwhile.

        A commit whose outcome is unknown is harmless: the repetition finds the job over.
        """
        until = asyncio.get_running_loop().time() + settings.LEASE_SECONDS
        while True:
            try:
                return await self._in(self._records, write)
            except DATABASE_AWAY:
                if asyncio.get_running_loop().time() >= until:
                    raise
                await asyncio.sleep(AWAY_SECONDS)

    async def _renew_for_ever(self) -> None:
        while True:
            await asyncio.sleep(settings.HEARTBEAT_SECONDS)
            opened = list(self._open.values())
            if not opened:
                continue
            try:
                held = await self._in(self._claims, partial(renew, [one.lease for one in opened]))
            except DATABASE_AWAY:
                # The leases outlive several missed beats.
                logger.exception("leases could not be renewed")
                continue
            for one in opened:
                if one.lease.job_id not in held and not one.task.done():
                    one.task.cancel()
                    with suppress(*DATABASE_AWAY):
                        await self._in(self._records, partial(_give_up, one.lease))

    async def _drain(self) -> None:
        opened = list(self._open.values())
        if not opened:
            return
        await asyncio.wait([one.task for one in opened], timeout=DRAIN_SECONDS)
        for one in opened:
            if not one.task.done():
                one.task.cancel()
                with suppress(*DATABASE_AWAY):
                    await self._in(self._records, partial(services.release, one.lease))
        await asyncio.gather(*(one.task for one in opened), return_exceptions=True)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    async def _in(self, threads: ThreadPoolExecutor, call: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(
            threads, partial(copy_context().run, _with_fresh_connections, call)
        )


def _with_fresh_connections(call: Callable[[], Result]) -> Result:
    # A thread keeps its connections; one that broke, or is too old, is replaced.
    close_old_connections()
    return call()


def _close_connections(together: threading.Barrier) -> None:
    together.wait()
    connections.close_all()


def _claim_some(worker: str, most: int) -> list[Lease]:
    """Claim up to most jobs, one sender at a time, so that the caps of tenants and endpoints hold exactly."""
    leases: list[Lease] = []
    while len(leases) < most:
        with transaction.atomic(using="dispatch"):
            with connections["dispatch"].cursor() as cursor:
                # Nobody waits for the lock, and a process that stands still with it loses it soon.
                cursor.execute(_TRY_LOCK, [_CLAIM_LOCK])
                is_mine = cursor.fetchone()[0] is True
            lease = claim_next(QUEUE, worker=worker) if is_mine else None
        if lease is None:
            break
        leases.append(lease)
    return leases


def _give_up(lease: Lease) -> None:
    with tenant_scope(lease.tenant_id):
        canceled = services.acknowledge_cancel(lease) if services.cancel_requested(lease) else False
    ended("canceled" if canceled else LOST)
    logger.warning("job %s: %s", lease.job_id, "canceled" if canceled else "lease lost, nothing committed")
