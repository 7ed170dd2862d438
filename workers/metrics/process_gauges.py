"""The processes of a worker as Prometheus reads them: how many can run a task."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from workers.liveness import FAILED, LOADING, READY, WAITING, WorkerState, state_folder, worker_file


class ProcessGauges(Collector):
    """Counts the processes of this worker by their state. The worker's parent process answers."""

    def collect(self) -> Iterator[Metric]:
        worker = WorkerState.read(worker_file(state_folder(), os.getpid()))
        counts = Counter(child.state for child in worker.children) if worker is not None else Counter[str]()
        family = GaugeMetricFamily(
            "ava_worker_processes",
            "Processes that run tasks, by state: loading, waiting (for a model server), ready or failed.",
            labels=["state"],
        )
        for state in (LOADING, WAITING, READY, FAILED):
            family.add_metric([state], float(counts[state]))
        yield family
