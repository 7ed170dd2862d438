"""What the handler of a job gets: its lease, meters, a way to commit under the lease, a way to report progress."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from backend.billing.services.machines.device_time import device_rates
from backend.jobs import commits, services
from backend.jobs.services import Lease, LeaseLost
from backend.library.storage import ObjectStorage
from backend.tenancy.context import tenant_scope
from backend.tenancy.secrets import cache_salt
from workers.objects.signed_storage import storage_of
from workers.observed_job import ended

if TYPE_CHECKING:
    from gpu_workers.engine.models.roles import Meter, ModelCall

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A job to run at once in this process. Any worker of its class may claim it, so nothing depends on this
    shortcut."""

    job_id: UUID


@dataclass(slots=True)
class Work:
    """A handler's argument. Whatever its meters counted and no commit recorded is recorded as wasted when it ends.

    lost: whether the work has to stop. late: because it took too long, and not because its lease was lost.
    advanced: whether a step of the job's work was committed in this attempt (advance).
    """

    lease: Lease
    worker: str
    lost: threading.Event = field(default_factory=threading.Event)
    late: bool = False
    recording: threading.Lock = field(default_factory=threading.Lock)
    stored: dict[UUID, set[str]] = field(default_factory=dict)
    advanced: bool = False
    _stage: str = ""
    _done: int = 0
    _total: int = 0
    _meters: list[Meter] = field(default_factory=list)
    _billing: list[Meter] = field(default_factory=list)
    _billed: list[Meter] = field(default_factory=list)

    # --- commits --------------------------------------------------------------------------------------------------

    def checkpoint(self) -> AbstractContextManager[None]:
        """Open a transaction of the job's tenant in which the lease is held. Raises LeaseLost if it is not held."""
        return services.checkpoint(self.lease)

    def commit(self, write: Callable[[], Result]) -> Result:
        """Run write inside checkpoint(), again if the database's connection broke; return its result.

        write: depends only on results in memory (backend.jobs.commits).
        """
        self._billing.clear()
        result = commits.commit(self.checkpoint, write)
        self._billed += self._billing
        self._billing.clear()
        return result

    def advance(self, write: Callable[[], Result]) -> Result:
        """Commit a step that later attempts need not repeat, as commit() does."""
        result = self.commit(write)
        self.advanced = True
        return result

    def reading(self, read: Callable[[], Result]) -> Result:
        """Run read in a transaction of the job's tenant, again if the database's connection broke."""
        return commits.read(lambda: tenant_scope(self.lease.tenant_id), read)

    def complete(self) -> None:
        """Mark the job as done, inside checkpoint() or commit()."""
        services.complete(self.lease)
        ended("succeeded")

    def finish(self) -> None:
        """End the job in a transaction of its own, because nothing is left to do."""
        self.commit(self.complete)

    # --- metered calls --------------------------------------------------------------------------------------------

    def meter(self) -> Meter:
        """Return a new meter for model calls of this job."""
        from gpu_workers.engine.models.roles import Meter

        meter = Meter(cache_salt(self.lease.tenant_id), attribute=device_rates().attributed)
        self._meters.append(meter)
        return meter

    def bill(self, meter: Meter) -> tuple[ModelCall, ...]:
        """Return the calls of a meter, inside commit(): its transaction records them, and if it commits, nobody else
        will."""
        self._billing.append(meter)
        return meter.calls

    def wasted_calls(self) -> tuple[ModelCall, ...]:
        """Return the calls that no commit has recorded."""
        return tuple(call for meter in self._meters if meter not in self._billed for call in meter.calls)

    def waste_recorded(self) -> None:
        """Note that the calls which no commit had recorded are recorded now."""
        self._billed += self._meters

    def answered(self) -> frozenset[str]:
        """Return the dependencies that have answered a call of this job."""
        return frozenset[str]().union(*(meter.answered for meter in self._meters))

    # --- objects --------------------------------------------------------------------------------------------------

    def objects(self) -> ObjectStorage:
        """Return the storage with what this job may read and write. Safe to share between threads."""
        return storage_of(self.lease)

    def stores_under(self, video_id: UUID, *prefixes: str) -> None:
        """Note that this work stores objects of the video, in its own folder or under these prefixes.

        They are swept again if the attempt commits nothing and the video is deleted.
        """
        self.stored.setdefault(video_id, set()).update(prefixes)

    # --- the lease ------------------------------------------------------------------------------------------------

    def should_stop(self) -> bool:
        return self.lost.is_set()

    def require_lease(self) -> None:
        """Raise LeaseLost once a heartbeat has found the lease gone, or the work too long: more would be wasted."""
        if self.lost.is_set():
            raise LeaseLost(f"job {self.lease.job_id} was lost or canceled while it ran")

    def progress(self, stage: str, done: int, total: int) -> None:
        """Keep the progress, which the next heartbeat records."""
        self._stage, self._done, self._total = stage, done, total

    def record_progress(self) -> None:
        """Record the progress now, inside checkpoint()."""
        services.record_progress(self.lease, stage=self._stage, done=self._done, total=self._total)

    def beat(self) -> bool:
        return services.heartbeat(self.lease, stage=self._stage, done=self._done, total=self._total)
