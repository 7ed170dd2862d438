"""How much a run contains: whose recordings are indexed, and how the workers run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from infra.local.app_processes import WORKERS, Worker
from tests.faults.chaos.customers import CLIPS
from tests.faults.chaos.service import POOLS
from tests.tasks.eyes import BLUE, RED

Scenes = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Extent:
    """recordings: colours and their seconds, by tenant. window_s: time from the start of a run in which faults begin.

    workers: the workers that are started. pools: pools of the workers that call models; a run chooses one. clocks:
    whether the clocks of processes differ. durable: whether PostgreSQL keeps what it committed when it crashes; a run
    without that must not crash it.
    """

    recordings: Mapping[str, Scenes]
    window_s: float = 12.0
    workers: tuple[Worker, ...] = WORKERS
    pools: tuple[str, ...] = POOLS
    clocks: bool = True
    durable: bool = True


WHOLE = Extent(CLIPS)
SMALL = Extent(
    {"acme": ((RED, 3), (BLUE, 3))},
    window_s=0.0,
    workers=tuple(
        replace(worker, concurrency=1) for worker in WORKERS if worker.name not in ("worker-fetch", "worker-delete")
    ),
    pools=("prefork",),
    clocks=False,
    durable=False,
)
"""The least that can be disturbed: one tenant, two segments, and one task at a time for each worker that has work."""

EXTENTS = {"whole": WHOLE, "small": SMALL}
